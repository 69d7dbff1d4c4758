"""Predictions, without and with a grammar."""

import json
import math
from itertools import product

import pytest

import ftor
from ftor.errors import FtorError
from ftor.grammar import Grammar
from ftor.model.predicting import batches_of, predict_or_fail
from ftor.model.prediction import Prediction
from ftor.networks.decoding import TooLongError
from ftor.text.reading import DataError, Source

SENTENCES = ["a b c", "k", "d c b a e f", "a a", "g h i j k a b c", "b"]

GRAMMAR = """
Mirrored -> 'a' Mirrored 'a' | 'b' Mirrored 'b' | 'c' Mirrored 'c' | 'a' 'a' | 'b' 'b' | 'c' 'c'
"""


def outputs(predictions):
    return [prediction.tokens for prediction in predictions]


class TestPredictions:
    @pytest.mark.parametrize("batch_size", [1, 2, 4, 100])
    def test_are_the_same_whatever_the_batch(self, model, batch_size):
        wanted = model.predict(SENTENCES)
        found = model.predict(SENTENCES, batch_size=batch_size)
        assert outputs(found) == outputs(wanted)
        assert [p.score for p in found] == pytest.approx([p.score for p in wanted], abs=1e-5)
        for one, other in zip(found, wanted, strict=True):
            assert one.structure.alignment == pytest.approx(other.structure.alignment, abs=1e-5)

    def test_come_in_the_order_of_the_sentences(self, model):
        found = model.predict(SENTENCES[::-1])
        assert outputs(found) == outputs(model.predict(SENTENCES))[::-1]
        assert [" ".join(p.source[1:]) for p in found] == SENTENCES[::-1]

    def test_tokens_are_as_good_as_text(self, model):
        assert outputs(model.predict([["a", "b"]])) == outputs(model.predict(["a  b "]))

    def test_without_structure_they_say_the_same(self, model):
        without = model.predict(SENTENCES, structure=False)
        assert outputs(without) == outputs(model.predict(SENTENCES))
        assert {p.structure for p in without} == {None}

    def test_structures_are_soft_alignments(self, model):
        for prediction in model.predict(SENTENCES):
            how, n = prediction.structure, len(prediction.source)
            assert how.alignment.shape == (n, prediction.length)
            assert how.alignment.sum(0) == pytest.approx([1.0] * prediction.length, abs=1e-4)
            assert [step.name for step in how.steps] == ["fertility", "reordering"]
            assert sum(how.fertilities) == prediction.length
            assert len(how.steps[0].labels) == prediction.length
            assert how.alignment == pytest.approx(how.steps[0].marginals @ how.steps[1].marginals, abs=1e-5)

    def test_scores_are_log_probabilities(self, model):
        for prediction in model.predict(SENTENCES):
            assert prediction.score <= prediction.length_score <= 0
            assert math.isfinite(prediction.score)

    @pytest.mark.parametrize("k", [2, 5, 50])
    def test_more_lengths_never_give_a_worse_score(self, model, k):
        for one, more in zip(model.predict(SENTENCES), model.predict(SENTENCES, lengths=k), strict=True):
            assert more.score >= one.score - 1e-6
            assert more.length >= 1

    def test_unknown_words_are_read(self, model):
        (prediction,) = model.predict(["never seen ünï"])
        assert prediction.source[1:] == ("never", "seen", "ünï")
        assert set(prediction.tokens) <= set(model.vocabularies.target.tokens)

    def test_there_may_be_no_sentences(self, model):
        assert model.predict([]) == []

    def test_an_empty_sentence_is_named(self, model):
        with pytest.raises(DataError, match=r"sentences: number 2 is empty"):
            model.predict(["a", "  "])

    def test_one_string_is_not_a_list(self, model):
        with pytest.raises(TypeError, match=r"expected a list of sentences, found one string"):
            model.predict("a b c")


class TestGrammar:
    @pytest.fixture
    def grammar(self):
        return Grammar.parse(GRAMMAR)

    @pytest.mark.parametrize("lengths", [1, 5])
    def test_outputs_derive_from_it(self, model, grammar, lengths):
        for found in model.predict(SENTENCES, grammar=grammar, lengths=lengths):
            assert grammar.accepts(found.tokens)
            assert found.well_formed
        assert model.predict(["a"])[0].well_formed is None

    def test_no_other_string_of_that_length_is_more_likely(self, model, grammar):
        (found,) = model.predict(["a b"], grammar=grammar, structure=False)
        halves = product("abc", repeat=found.length // 2)
        one_by_one = [
            model.predict(["a b"], grammar=Grammar.parse(f"S : {' '.join((*half, *half[::-1]))}"))[0]
            for half in halves
        ]
        assert max(p.score for p in one_by_one) == pytest.approx(found.score, abs=1e-5)

    def test_a_file_will_do(self, model, grammar, tmp_path):
        (tmp_path / "my.cfg").write_text(GRAMMAR)
        wanted = outputs(model.predict(SENTENCES, grammar=grammar))
        assert outputs(model.predict(SENTENCES, grammar=tmp_path / "my.cfg")) == wanted
        assert outputs(model.predict(SENTENCES, grammar=str(tmp_path / "my.cfg"))) == wanted

    def test_where_it_derives_nothing_any_output_will_do(self, model):
        for impossible in ("S : unheard of", "S -> @copy | @copy S"):
            (found,) = model.predict(["a"], grammar=Grammar.parse(impossible))
            assert (found.tokens, found.well_formed) == (model.predict(["a"])[0].tokens, False)

    def test_lengths_that_need_words_the_model_cannot_write_are_passed_over(self, model):
        grammar = Grammar.parse("S -> 'unheard' | @copy @copy | 'a' 'b' 'c' | 'a' S")
        for found in model.predict(SENTENCES, grammar=grammar, lengths=1):
            assert found.well_formed
            assert found.length >= 3

    @pytest.mark.parametrize("argument", ["lengths", "batch_size"])
    def test_numbers_below_one_are_refused(self, model, argument):
        with pytest.raises(ValueError, match=rf"{argument}: expected at least 1, found 0"):
            model.predict(["a"], **{argument: 0})

    def test_copies_stand_for_words_of_the_sentence(self, run):
        model = ftor.load(run("copying", model__copying=True))
        grammar = Grammar.parse("S -> @copy | @copy S")
        for source in (["unheard", "of"], ["a", "unheard"]):
            (found,) = model.predict([source], grammar=grammar)
            assert set(found.tokens) <= set(source)

    def test_a_model_keeps_its_own(self, run, tmp_path):
        (tmp_path / "my.cfg").write_text("Unlikely -> 'k' | 'k' Unlikely")
        folder = run("own", decoding__grammar=str(tmp_path / "my.cfg"), decoding__lengths=3)
        (tmp_path / "my.cfg").unlink()
        model = ftor.load(folder)
        metrics = json.loads((folder / "metrics.json").read_text())
        assert metrics["test_grammar"]["shares"] == {"well_formed": 1.0}
        assert all(model.grammar.accepts(tokens) for tokens in outputs(model.predict(SENTENCES)))
        free = outputs(model.predict(SENTENCES, grammar=None))
        assert not all(model.grammar.accepts(tokens) for tokens in free)

    def test_autoregressive_models_are_refused(self, run):
        model = ftor.load(run("autoregressive", model__decoder="autoregressive"))
        with pytest.raises(FtorError, match="an autoregressive transducer cannot decode with a grammar"):
            model.predict(["a"], grammar="geo")


def test_rows_are_in_the_order_of_their_lengths():
    assert list(batches_of([5, 1, 3, 2], 2)) == [[1, 3], [2, 0]]
    assert list(batches_of([], 2)) == []


def test_far_longer_rows_are_apart():
    assert list(batches_of([3000, 10, 12, 2900, 90], 8)) == [[1, 2, 4], [3, 0]]


@pytest.mark.parametrize("place", range(5))
def test_a_sentence_that_is_too_long_costs_only_itself(place):
    sources = [Source((str(number),)) for number in range(5)]

    def predict(some):
        if sources[place] in some:
            raise TooLongError("too long")
        return [Prediction(source.tokens, source.tokens, 0.0, None) for source in some]

    found = predict_or_fail(predict, sources)
    assert [one.error for one in found] == ["too long" if number == place else None for number in range(5)]
    assert [one.source for one in found] == [source.tokens for source in sources]
    assert found[place].tokens == ()
