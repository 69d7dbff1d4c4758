"""Predictions of a model from its folder, and what is said when the folder is damaged."""

import json
import math
import re
import shutil

import pytest

import ftor
from ftor.checkpoint import CheckpointError
from ftor.config import ConfigError
from ftor.data.reading import DataError, read_pairs

SENTENCES = ["a b c", "k", "d c b a e f", "a a", "g h i j k a b c", "b"]


@pytest.fixture(scope="module")
def model(trained):
    return ftor.load(trained)


@pytest.fixture
def damaged(trained, tmp_path):
    """Give a copy of the model's folder, to damage."""
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.toml", "vocab.json", "model.safetensors"):
        shutil.copy(trained / name, folder)
    return folder


def outputs(predictions):
    return [prediction.tokens for prediction in predictions]


class TestPredictions:
    def test_a_model_needs_only_three_files(self, damaged, model):
        assert outputs(ftor.load(str(damaged)).predict(SENTENCES)) == outputs(model.predict(SENTENCES))

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
        with pytest.raises(DataError, match=r"sentences: expected text in each, found none in number 2"):
            model.predict(["a", "  "])

    def test_one_string_is_not_a_list(self, model):
        with pytest.raises(TypeError, match=r"expected a list of sentences, found one string"):
            model.predict("a b c")

    def test_evaluation_is_that_of_the_run(self, model, data, trained):
        found = model.evaluate(read_pairs(data / "test.tsv"))
        assert found.as_dict() == json.loads((trained / "metrics.json").read_text())["test"]


class TestDamage:
    def test_no_folder(self, tmp_path):
        with pytest.raises(
            CheckpointError, match=r"none: expected a model folder, found no config.toml in it"
        ):
            ftor.load(tmp_path / "none")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (None, "No such file"),
            ("{", "JSONDecodeError"),
            ('{"source": ["a"]}', "'target'"),
            ("[]", "TypeError"),
            ('{"source": null, "target": []}', "TypeError"),
            ('{"source": ["a", "a"], "target": []}', "found one twice"),
        ],
        ids=["missing", "torn", "half", "list", "null", "twice"],
    )
    def test_vocabulary(self, damaged, content, message):
        if content is None:
            (damaged / "vocab.json").unlink()
        else:
            (damaged / "vocab.json").write_text(content)
        with pytest.raises(
            CheckpointError, match=rf"vocab.json: expected two lists of tokens, found .*{message}"
        ):
            ftor.load(damaged)

    def test_weights_are_torn(self, damaged):
        path = damaged / "model.safetensors"
        path.write_bytes(path.read_bytes()[:1000])
        with pytest.raises(CheckpointError, match=r"model.safetensors: .* found a damaged file"):
            ftor.load(damaged)

    def test_weights_are_missing(self, damaged):
        (damaged / "model.safetensors").unlink()
        with pytest.raises(CheckpointError, match=r"model.safetensors: expected a model .* found no file"):
            ftor.load(damaged)

    def test_weights_are_those_of_another_model(self, damaged):
        text = (damaged / "config.toml").read_text()
        (damaged / "config.toml").write_text(re.sub(r"width = 16", "width = 18", text, count=1))
        with pytest.raises(CheckpointError, match=r"model.safetensors: weights of another model"):
            ftor.load(damaged)

    def test_configuration(self, damaged):
        (damaged / "config.toml").write_text("[model]\nwitdh = 3")
        with pytest.raises(
            ConfigError, match=r"config.toml: model.witdh: unknown key \(did you mean model.width\?\)"
        ):
            ftor.load(damaged)
