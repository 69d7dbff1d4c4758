"""What is new in pairs, and what is wrong with the answers of a model."""

import numpy as np
import pytest

from ftor.metrics import evaluate
from ftor.model.evaluation import Evaluation, tell_of_underived
from ftor.model.novelty import new_combinations, new_parts, new_words
from ftor.model.prediction import Prediction
from ftor.reporting import Report
from ftor.text.copying import Copying
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies


def pair(source, target):
    return Pair(tuple(source.split()), tuple(target.split()), 1)


TRAINING = [pair("drive to Rome", "go Rome"), pair("wait at home", "stay home now"), pair("drive", "go now")]
OPEN, CLOSED = Copying(open=True), Copying(open=False)


class TestNovelty:
    def test_words(self):
        words = Vocabularies.of(TRAINING, lowercase=True)
        words.source.add("fly")  # as `add_words` does
        found = new_words(
            [pair("drive FLY to Rome", "x"), pair("DRIVE", "x")], words, words.source.tokens[:-1]
        )
        assert found == (("FLY",), ())

    @pytest.mark.parametrize(
        ("copying", "parts"), [(None, ("fly", "Oslo")), (OPEN, ()), (CLOSED, ("fly", "Oslo"))]
    )
    def test_parts(self, copying, parts):
        words = Vocabularies.of(TRAINING, copying)
        assert new_parts([pair("fly to Oslo", "fly Oslo now")], words) == (parts,)

    def test_a_part_that_is_neither_known_nor_in_the_sentence(self):
        words = Vocabularies.of(TRAINING, OPEN)
        assert new_parts([pair("to Oslo", "fly Oslo")], words) == (("fly",),)

    @pytest.mark.parametrize("copying", [None, OPEN, CLOSED])
    def test_combinations(self, copying):
        words = Vocabularies.of(TRAINING, copying)
        found = new_combinations([pair("remain", "stay now"), pair("remain", "go now")], words, TRAINING)
        assert found == ((("stay", "now"),), ())

    def test_copies_count_as_the_same(self):
        """Training has another name behind `go`, and `stay` behind no name."""
        words = Vocabularies.of(TRAINING, OPEN)
        pairs = [pair("drive to Oslo", "go Oslo"), pair("Oslo today", "go Oslo stay"), pair("x", "go fly")]
        assert new_combinations(pairs, words, TRAINING) == ((), (("Oslo", "stay"),), ())


class Said(Report):
    def __init__(self):
        self.messages = []

    def say(self, message):
        self.messages.append(message)


def test_right_outputs_that_the_grammar_does_not_derive_are_counted():
    said, three = Said(), [pair("x", "go now"), pair("y", "stay"), pair("z", "go")]
    right = {"exact_match": np.array([True, True, False]), "well_formed": np.array([True, False, False])}
    tell_of_underived(three, right, said)
    (message,) = said.messages
    assert message.startswith("right, but not in the model's grammar")
    assert message.endswith(": 1 output, such as stay")
    tell_of_underived(three, right | {"well_formed": np.array([True, True, False])}, said)
    tell_of_underived(three, {"exact_match": right["exact_match"]}, said)
    assert len(said.messages) == 1


def test_mistakes():
    golds = [("a",), ("a", "b"), ("a", "b"), ("c",), ("a",), ("go", "Oslo"), ("go", "now")]
    outputs = [("a",), ("b", "a"), ("a",), ("a",), (), ("go",), ("go",)]
    verdicts = {
        "exact_match": np.array([1, 0, 0, 0, 0, 0, 0], bool),
        "as_sets": np.array([1, 1, 0, 0, 0, 0, 0], bool),
        "well_formed": np.array([1, 1, 1, 1, 0, 1, 1], bool),
    }
    evaluation = Evaluation(
        tuple(Pair(("x",), gold, 1) for gold in golds),
        tuple(
            Prediction(("x",), output, 0.0, None, error=None if output else "too long") for output in outputs
        ),
        evaluate(golds, outputs, right=verdicts),
        verdicts,
        tuple(golds),
        tuple(outputs),
        new_words=((), (), (), (), (), ("OSLO",), ("soon",)),
        new_parts=((), (), (), ("c",), (), (), ()),
    )
    assert evaluation.metrics.accuracy == evaluation.right.mean()
    assert evaluation.right.tolist() == [True, True, False, False, False, False, False]
    assert evaluation.unknown_words == ((),) * 6 + (("soon",),)
    assert evaluation.mistakes[:5] == (None, None, "missing parts", "unknown words", "no answer")
    assert evaluation.mistakes[5:] == ("missing parts", "unknown words")  # the name could have been copied
