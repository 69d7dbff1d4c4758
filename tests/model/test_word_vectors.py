"""Pretrained vectors, also of words that were not in the training pairs."""

import json
import math

import pytest

import ftor
from ftor.model.tensors import load_tensors
from ftor.text.reading import DataError
from support.tiny import run_here, train_arguments

FILE = "letters.txt"


def vector(letter):
    return [math.sin(3 * ord(letter) + place) for place in range(6)]


def row(folder, word):
    """The vector of a word in the weights of a model folder."""
    words = json.loads((folder / "vocab.json").read_text())["source"]
    weights, _ = load_tensors(folder / "model.safetensors")
    return weights["embedding.weight"][3 + words.index(word)].tolist()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Give a folder with a file of vectors: of some letters of the training pairs, and of z. Read only."""
    folder = tmp_path_factory.mktemp("vectors")
    lines = (f"{letter} {' '.join(map(str, vector(letter)))}\n" for letter in "abcdefz")
    (folder / FILE).write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def train(data, vectors, tmp_path_factory):
    """Give a function that trains a model with these vectors."""

    def with_settings(**settings):
        folder = tmp_path_factory.mktemp("models") / "run"
        overrides = {
            "data.vectors": FILE,
            **{key.replace("__", "."): value for key, value in settings.items()},
        }
        finished = run_here(*train_arguments(data, folder, overrides), "--data-dir", vectors)
        assert finished.code == 0, finished.err
        return folder

    return with_settings


@pytest.fixture(scope="module")
def frozen(train):
    """Give the folder of a model that keeps its vectors. Read only."""
    return train()


class TestFrozen:
    def test_they_stay_as_they_are(self, frozen):
        assert row(frozen, "b") == pytest.approx(vector("b"), abs=1e-5)

    def test_new_words_are_told_apart(self, frozen, vectors):
        model = ftor.load(frozen, data_folder=vectors)
        words = list(model.trained_words)
        assert "z" not in words
        scores = {word: model.predict([["a", word]], structure=False)[0].score for word in ("z", "q", "r")}
        assert len(set(scores.values())) == 3
        assert model.trained_words == words
        again = ftor.load(frozen, data_folder=vectors)
        found = again.predict([["a", "r"], ["a", "z"], ["r", "z"]], structure=False)
        assert [found[0].score, found[1].score] == pytest.approx([scores["r"], scores["z"]], abs=1e-5)

    def test_words_that_are_not_in_the_file_are_unknown(self, frozen, vectors):
        model = ftor.load(frozen, data_folder=vectors)
        for _ in range(2):  # also when they have been added
            (found,) = model.predict(["a z q r q"])
            assert found.unknown == found.foreign == ("q", "r")
            assert not model.is_foreign(model.predict(["a z q"])[0])
            assert model.is_foreign(model.predict(["z q r"])[0])
        model.forget_words()
        assert not model.vocabularies.guessed

    def test_without_the_file_new_words_get_random_vectors(self, frozen, tmp_path):
        model = ftor.load(frozen, data_folder=tmp_path)
        assert model.predict(["a z"])[0].unknown == ("z",)
        assert len({p.score for p in model.predict([["a", "z"], ["a", "q"]], structure=False)}) == 2

    def test_the_command_looks_in_the_data_folder_too(self, frozen, vectors, tmp_path, monkeypatch):
        monkeypatch.setenv("FTOR_DATA", str(tmp_path))
        finished = run_here("predict", frozen, "a z")
        assert "letters.txt: no such file; 1 words that are not in the model get random" in finished.err
        without = json.loads(finished.out)["score"]
        found = json.loads(run_here("predict", frozen, "a z", "--data-dir", vectors).out)["score"]
        (wanted,) = ftor.load(frozen, data_folder=vectors).predict(["a z"])
        assert found == pytest.approx(wanted.score) != pytest.approx(without)

    def test_vectors_of_another_size_are_refused(self, frozen, tmp_path):
        (tmp_path / FILE).write_text("z 1 2 3\n")
        model = ftor.load(frozen, data_folder=tmp_path)
        with pytest.raises(DataError, match=r"letters.txt: expected vectors of 6 numbers, found 3"):
            model.predict(["z"])

    def test_added_words_are_not_saved(self, frozen, vectors, tmp_path):
        model = ftor.load(frozen, data_folder=vectors)
        (wanted,) = model.predict(["a z"], structure=False)
        model.save(tmp_path / "copy")
        assert (tmp_path / "copy" / "vocab.json").read_bytes() == (frozen / "vocab.json").read_bytes()
        (found,) = ftor.load(tmp_path / "copy", data_folder=vectors).predict(["a z"], structure=False)
        assert found.score == pytest.approx(wanted.score, abs=1e-5)

    def test_added_words_can_be_forgotten(self, frozen, vectors):
        model = ftor.load(frozen, data_folder=vectors)
        words = list(model.vocabularies.source.tokens)
        first = [p.score for p in model.predict(["a z", "q"], structure=False)]
        model.forget_words()
        assert model.vocabularies.source.tokens == words
        model.predict(["r"], structure=False)  # which gets the id that z had
        model.forget_words()
        assert [p.score for p in model.predict(["a z", "q"], structure=False)] == first


def test_trained_vectors_change_and_new_words_are_unknown(train, vectors):
    folder = train(model__train_vectors=True)
    assert row(folder, "b") != pytest.approx(vector("b"), abs=1e-5)
    model = ftor.load(folder, data_folder=vectors)
    found = model.predict([["a", "z"], ["a", "q"]], structure=False)
    assert found[0].score == pytest.approx(found[1].score)


def test_vectors_as_wide_as_the_model_need_no_projection(train):
    weights, _ = load_tensors(train(model__width=6) / "model.safetensors")
    assert not any(name.startswith("embedding.projection") for name in weights)


def test_a_missing_file_is_named(data, tmp_path):
    finished = run_here(*train_arguments(data, tmp_path / "run", {"data.vectors": "none.txt"}))
    assert finished.code == 1
    assert "data.vectors: none.txt: no such file; looked in" in finished.err
