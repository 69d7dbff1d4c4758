"""Target words that training lacks, scored by the words of their names."""

import itertools
import random

import numpy as np
import pytest
import torch

import ftor
from ftor.nn import IndependentDecoder
from ftor.nn.name_scores import NameScores
from ftor.text.names import name_words
from support import tiny_encoder
from support.tiny import run_here, train_arguments, write_lines

WORDS = ["".join(letters) for letters in itertools.product("bdfgkl", "aeiou", "mnrs")][:60]
NEW = WORDS[50:]
"""Training has no predicate of these names, and no word either."""


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("_arrival_month", ("arrival", "month")),
        ("_day_number_2", ("day", "number")),
        ("file.createdDateTime", ("file", "created", "date", "time")),
        ("HTTPServer", ("http", "server")),
        ("(", ()),
        ("1991", ()),
    ],
)
def test_names_are_split_at_case_and_at_what_is_no_letter(token, words):
    assert name_words(token) == words


@pytest.fixture
def scores():
    torch.manual_seed(0)
    layer = NameScores(5, 2, 4, 3)
    vectors = torch.randn(4, 3)
    vectors[0] = 0
    layer.fit(vectors, torch.tensor([False, True, True, False]))
    return layer


def test_what_training_lacks_has_no_score_of_its_own(scores):
    assert scores.new.tolist() == [False, False, False, True], "the first has no name"
    hidden, own = torch.randn(6, 5), torch.randn(6, 2, 4)
    found = scores.eval()(hidden, own)
    by_name = torch.einsum("nde,ve->ndv", scores.projection(hidden).view(6, 2, 3), scores.vectors)
    torch.testing.assert_close(found[..., :3], (own + by_name)[..., :3])
    torch.testing.assert_close(found[..., 3], by_name[..., 3])
    torch.testing.assert_close(found[..., 0], own[..., 0])
    assert scores.vectors[1:].std(correction=0).item() == pytest.approx(0.4, abs=0.02)


def test_training_hides_own_scores_and_what_it_lacks(scores):
    hidden, own = torch.randn(6, 5), torch.randn(6, 2, 4)
    named, hides = (own + scores.eval()(hidden, torch.zeros_like(own)))[..., 1], 0
    for _ in range(40):
        found = scores.train()(hidden, own)
        assert found[..., 3].isneginf().all()
        assert torch.equal(found[..., 0], own[..., 0])
        hides += not torch.allclose(found[..., 1], named)
    assert 5 < hides < 35


def test_gradients_are_finite(scores):
    decoder = IndependentDecoder(7, 4, 2, 5, 0.0)
    decoder.names = scores
    gold = decoder.train().gold(torch.randn(2, 3, 7), torch.tensor([3, 2]), torch.tensor([[1, 2], [0, 1]]))
    gold.sum().backward()
    assert all(p.grad.isfinite().all() for p in decoder.parameters())
    assert decoder.eval()(torch.randn(1, 3, 7)).exp().sum(-1).allclose(torch.ones(1, 3, 2))


@pytest.fixture
def task(tmp_path):
    """Write a task in which each word is translated to the predicate of its name, and their vectors."""
    draw, vectors = random.Random(0), np.random.default_rng(0).normal(0, 0.4, (len(WORDS), 8))
    numbers = (" ".join(f"{number:.4f}" for number in vector) for vector in vectors)
    write_lines(tmp_path / "v.txt", *(" ".join(line) for line in zip(WORDS, numbers, strict=True)))

    def pairs(words, count):
        chosen = (draw.sample(words, 2) for _ in range(count))
        return [f"{one} {two}\t_{one}_1 _{two}_1" for one, two in chosen]

    write_lines(tmp_path / "train.tsv", *pairs(WORDS[:50], 300))
    write_lines(tmp_path / "dev.tsv", *pairs(WORDS[:50], 20))
    write_lines(tmp_path / "test.tsv", *pairs(NEW, 30))
    predicates = " | ".join(f"_{word}_1" for word in WORDS)
    write_lines(tmp_path / "g.cfg", "Both -> Predicate Predicate", f"Predicate : {predicates}")
    return tmp_path


@pytest.mark.slow
def test_predicates_that_training_lacks_are_written(task):
    shares = {}
    for compose in (True, False):
        settings = {
            "data.vectors": str(task / "v.txt"), "decoding.grammar": str(task / "g.cfg"), "model.width": 24,
            "model.decoder_hidden": 48, "model.dropout": 0.0, "model.max_fertility": 1,
            "model.compose_names": compose, "training.epochs": 30, "training.learning_rate": 0.005,
        }  # fmt: skip
        folder = task / f"run-{compose}"
        finished = run_here(*train_arguments(task, folder, settings))
        assert finished.code == 0, finished.err
        assert ("names: 10 target words that training lacks" in finished.err) == compose
        model = ftor.load(folder)
        lines = [line.split("\t") for line in (task / "test.tsv").read_text().splitlines()]
        found = model.predict([source for source, _ in lines])
        pairs = [
            (token, wanted)
            for one, (_, target) in zip(found, lines, strict=True)
            for token, wanted in zip(one.tokens, target.split(), strict=False)
        ]
        shares[compose] = sum(token == wanted for token, wanted in pairs) / len(pairs)
    assert shares[True] > 0.6
    assert shares[False] < 0.2


def test_names_are_read_by_a_pretrained_reader(data, tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    encoder = tiny_encoder.write(tmp_path / "encoder")
    letters = " | ".join("abcdefghijk")
    grammar = write_lines(tmp_path / "g.cfg", "A -> B | B A", f"B : {letters} | _bad_1")
    settings = {"model.reader": str(encoder), "decoding.grammar": str(grammar), "model.compose_names": True}
    finished = run_here(*train_arguments(data, tmp_path / "run", settings))
    assert finished.code == 0, finished.err
    assert "names: 1 target word that training lacks" in finished.err
    model = ftor.load(tmp_path / "run")
    assert model.network.decoder.names.vectors.shape[1] == 12
    assert np.isfinite(model.score(["a b"], ["a _bad_1"])[0].score)


def test_names_need_vectors(data, tmp_path):
    finished = run_here(*train_arguments(data, tmp_path / "run", {"model.compose_names": True}))
    assert finished.code in (1, 2)
    assert "model.compose_names: needs data.vectors or model.reader" in finished.err
