"""Predictions of a model from its folder, and what is said when the folder is damaged."""

import json
import math
import re
import shutil
from itertools import product

import pytest

import ftor
from ftor.config import ConfigError
from ftor.errors import FtorError
from ftor.grammar import Grammar
from ftor.model.card import model_card
from ftor.model.tensors import CheckpointError, load_tensors
from ftor.text.reading import DataError, read_pairs
from support.tiny import run_here, train_arguments

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

    def test_a_folder_from_before_there_were_baselines_loads(self, damaged, model):
        path = damaged / "config.toml"
        lines = path.read_text().splitlines()
        later = ("architecture =", "schedule =", "warmup_steps =", "emphasis =", "aligner =")
        assert sum(line.startswith(later) for line in lines) == 5
        path.write_text("\n".join(line for line in lines if not line.startswith(later)))
        assert outputs(ftor.load(damaged).predict(SENTENCES)) == outputs(model.predict(SENTENCES))

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


GRAMMAR = """
Mirrored -> 'a' Mirrored 'a' | 'b' Mirrored 'b' | 'c' Mirrored 'c' | 'a' 'a' | 'b' 'b' | 'c' 'c'
"""


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

    def test_a_model_without_its_grammar_is_refused(self, run):
        folder = run("geo", decoding__grammar="geo")
        (folder / "grammar.cfg").unlink()
        with pytest.raises(FtorError, match=r"grammar.cfg: No such file"):
            ftor.load(folder)

    def test_autoregressive_models_are_refused(self, run):
        model = ftor.load(run("autoregressive", model__decoder="autoregressive"))
        with pytest.raises(FtorError, match="expected an independent decoder"):
            model.predict(["a"], grammar="geo")


class TestWordVectors:
    @pytest.fixture
    def vectors(self, tmp_path):
        """Give a file for some letters: those of training, one more, and of none of the others."""
        path = tmp_path / "letters.txt"
        rows = {letter: [math.sin(3 * ord(letter) + place) for place in range(6)] for letter in "abcdefz"}
        path.write_text("".join(f"{letter} {' '.join(map(str, row))}\n" for letter, row in rows.items()))
        return path

    def test_new_words_are_told_apart(self, run, vectors):
        folder = run("frozen", data__vectors=str(vectors))
        words = json.loads((folder / "vocab.json").read_text())["source"]
        assert "z" not in words
        model = ftor.load(folder)
        scores = {word: model.predict([["a", word]], structure=False)[0].score for word in ("z", "q", "r")}
        assert len(set(scores.values())) == 3
        assert model.trained_words == words
        card = model_card(model.config, model, json.loads((folder / "metrics.json").read_text()))
        assert f"`vocab.json` the {len(words)} source" in card
        again = ftor.load(folder).predict([["a", "r"], ["a", "z"], ["r", "z"]], structure=False)
        assert [again[0].score, again[1].score] == pytest.approx([scores["r"], scores["z"]], abs=1e-5)

    def test_frozen_ones_stay_as_they_are(self, run, vectors):
        folder = run("frozen", data__vectors=str(vectors))
        words = json.loads((folder / "vocab.json").read_text())["source"]
        weights, _ = load_tensors(folder / "model.safetensors")
        row = weights["embedding.weight"][3 + words.index("b")].tolist()
        assert row == pytest.approx([math.sin(3 * ord("b") + place) for place in range(6)], abs=1e-5)

    def test_trained_ones_change_and_others_are_unknown(self, run, vectors):
        folder = run("trained", data__vectors=str(vectors), model__train_vectors=True)
        words = json.loads((folder / "vocab.json").read_text())["source"]
        weights, _ = load_tensors(folder / "model.safetensors")
        row = weights["embedding.weight"][3 + words.index("b")].tolist()
        assert row != pytest.approx([math.sin(3 * ord("b") + place) for place in range(6)], abs=1e-5)
        model = ftor.load(folder)
        found = model.predict([["a", "z"], ["a", "q"]], structure=False)
        assert found[0].score == pytest.approx(found[1].score)

    def test_of_the_models_width_need_no_map(self, run, vectors):
        weights, _ = load_tensors(
            run("narrow", data__vectors=str(vectors), model__width=6) / "model.safetensors"
        )
        assert not any(name.startswith("embedding.projection") for name in weights)

    def test_without_the_file_the_model_still_works(self, run, vectors):
        folder = run("frozen", data__vectors=str(vectors))
        vectors.unlink()
        model = ftor.load(folder)
        assert len({p.score for p in model.predict([["a", "z"], ["a", "q"]], structure=False)}) == 2

    def test_the_file_is_found_in_the_chosen_data_folder(self, run, vectors, tmp_path, monkeypatch):
        monkeypatch.setenv("FTOR_DATA", str(tmp_path))
        folder = run("frozen", data__vectors=vectors.name)
        monkeypatch.setenv("FTOR_DATA", str(tmp_path / "none"))
        without = json.loads(run_here("predict", folder, "a z").out)["score"]
        found = json.loads(run_here("predict", folder, "a z", "--data-dir", tmp_path).out)["score"]
        (wanted,) = ftor.load(folder, data_folder=tmp_path).predict(["a z"])
        assert found == pytest.approx(wanted.score) != pytest.approx(without)

    def test_vectors_of_another_size_are_refused(self, run, vectors):
        model = ftor.load(run("frozen", data__vectors=str(vectors)))
        vectors.write_text("z 1 2 3\n")
        with pytest.raises(DataError, match=r"letters.txt: expected vectors of 6 numbers, found 3"):
            model.predict(["z"])

    def test_a_missing_file_is_named(self, data, tmp_path):
        finished = run_here(*train_arguments(data, tmp_path / "run", {"data.vectors": "none.txt"}))
        assert finished.code == 1
        assert "data.vectors: none.txt: no such file; looked in" in finished.err
