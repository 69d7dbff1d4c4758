"""Outputs are compared with gold targets and with a grammar."""

import json

import pytest

from ftor.grammar import Grammar
from ftor.model.judging import derives, judge
from ftor.text.copying import Copying
from ftor.text.reading import Pair, read_pairs
from ftor.text.vocabularies import Vocabularies


class TestEvaluate:
    def test_evaluation_is_that_of_the_run(self, model, data, trained):
        found = model.evaluate(read_pairs(data / "test.tsv"))
        assert found.as_dict() == json.loads((trained / "metrics.json").read_text())["test"]

    def test_a_file_is_read_as_in_training(self, model, data):
        found = model.evaluate(data / "test.tsv")
        assert (
            found == model.evaluate(str(data / "test.tsv")) == model.evaluate(read_pairs(data / "test.tsv"))
        )

    def test_examining_gives_each_answer_and_the_same_metrics(self, model, data):
        pairs = read_pairs(data / "test.tsv")
        found = model.examine(pairs)
        assert found.metrics == model.evaluate(pairs)
        texts = [prediction.text for prediction in found.predictions]
        assert texts == [one.text for one in model.predict([pair.source for pair in pairs])]
        right = [" ".join(pair.target) == text for pair, text in zip(pairs, texts, strict=True)]
        assert found.right.tolist() == found.verdicts["exact_match"].tolist() == right


PAIRS = [Pair(("a", "b"), ("x", "y"), 1), Pair(("c",), ("z",), 2)]
OUTPUTS = [("x", "y"), ("x",)]


class TestJudge:
    def test_pairs_are_grouped_by_source_length(self):
        found = judge(PAIRS, OUTPUTS, "pairs").metrics
        assert [(group.length, group.exact_match) for group in found.by_length] == [(1, 0.0), (2, 1.0)]
        assert found.shares == {}

    def test_the_share_of_well_formed_outputs_is_added(self):
        found, right, *parts = judge(
            PAIRS, OUTPUTS, "pairs", well_formed=lambda output, source: len(output) == len(source)
        )
        assert found.shares == {"well_formed": 1.0}
        assert found.accuracy == found.exact_match == 0.5
        assert {name: rows.tolist() for name, rows in right.items()} == {
            "exact_match": [True, False],
            "well_formed": [True, True],
        }
        assert parts == [[pair.target for pair in PAIRS], OUTPUTS]


class TestDerives:
    GRAMMAR = Grammar.parse("S -> 'say' @copy")

    @pytest.mark.parametrize(
        ("case", "output", "accepted"),
        [
            ("same", "Paris", True),
            ("same", "paris", False),
            ("any", "PARIS", True),
            ("same", "Rome", False),
            ("any", "rome", False),
        ],
    )
    def test_copies_are_words_of_the_source(self, case, output, accepted):
        copying = Copying(open=True, any_case=case == "any")
        vocabularies = Vocabularies(["Paris"], ["say"], copying)
        assert derives(self.GRAMMAR, vocabularies, ("say", output), ("to", "Paris")) == accepted
