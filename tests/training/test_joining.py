"""Models of several seeds as the members of one."""

import json
import shutil

import pytest
import torch

import ftor
from ftor.config import Config
from ftor.errors import FtorError
from ftor.model import calibrating
from ftor.training.joining import can_join, join
from support.tiny import run_here, train_arguments

SENTENCES = ["a b c", "k", "d c b a e f", "a a"]


@pytest.fixture(scope="module")
def runs(data, trained, once):
    """Give the folders of two seeds. Read only."""

    def train(folder):
        finished = run_here(*train_arguments(data, folder / "run", {"training.seed": 1}))
        assert finished.code == 0, finished.err

    return [trained, once("joining-second", train) / "run"]


def test_joined_models_answer_as_their_committee(runs, tmp_path):
    score = join(runs, tmp_path / "joined")
    found = ftor.load(tmp_path / "joined").predict(SENTENCES, n_best=3, confidence=False)
    wanted = ftor.load(runs).predict(SENTENCES, n_best=3, confidence=False)
    assert [[one.text for one in (best, *best.alternatives)] for best in found] == [
        [one.text for one in (best, *best.alternatives)] for best in wanted
    ]
    assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=1e-4)
    metrics = json.loads((tmp_path / "joined" / "metrics.json").read_text())
    assert metrics["dev"]["exact_match"] == score
    own = json.loads((runs[0] / "metrics.json").read_text())
    assert metrics["test"]["count"] == own["test"]["count"]
    card = (tmp_path / "joined" / "README.md").read_text()
    assert "2 of them together" in card
    assert "--resume" not in card
    assert not list((tmp_path / "joined").glob("checkpoint*"))


@pytest.mark.parametrize(
    "settings",
    [
        {"model.rescorer": "lstm", "model.rescorer_hidden": 8},
        {"model.architecture": "lstm", "model.width": 8, "model.hidden": 8},
    ],
    ids=["rescored", "lstm"],
)
def test_joined_models_with_lstms_answer_as_their_committee(data, tmp_path, settings):
    runs = [tmp_path / "first", tmp_path / "second"]
    for seed, run in enumerate(runs):
        arguments = train_arguments(data, run, {**settings, "training.seed": seed, "training.epochs": 2})
        finished = run_here(*arguments)
        assert finished.code == 0, finished.err
    join(runs, tmp_path / "joined")
    joined, committee = ftor.load(tmp_path / "joined"), ftor.load(runs)
    assert len(joined.network.members) == 2
    found, wanted, alone = (
        model.predict(SENTENCES, n_best=3, confidence=False)
        for model in (joined, committee, ftor.load(runs[0]))
    )
    assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=1e-4)
    assert [one.text for one in found] == [one.text for one in wanted]
    assert [one.score for one in found] != pytest.approx([one.score for one in alone], abs=1e-3)


def test_the_cost_is_that_of_all_runs(runs, tmp_path):
    costs = [(2.0, 0.5, 300), (3.0, 0.4, 400)]
    for number, (run, (seconds, dev_seconds, memory)) in enumerate(zip(runs, costs, strict=True)):
        shutil.copytree(run, tmp_path / f"run-{number}")
        metrics = json.loads((run / "metrics.json").read_text())
        metrics |= {"seconds": seconds, "dev_seconds": dev_seconds, "peak_memory_mb": memory}
        metrics["finished"] = "2020-01-01T00:00:00+00:00"
        (tmp_path / f"run-{number}" / "metrics.json").write_text(json.dumps(metrics))
    join([tmp_path / "run-0", tmp_path / "run-1"], tmp_path / "joined")
    joined = json.loads((tmp_path / "joined" / "metrics.json").read_text())
    assert (joined["seconds"], joined["dev_seconds"], joined["peak_memory_mb"]) == (5.0, 0.9, 400)
    assert joined["finished"] > metrics["finished"]
    assert joined["parameters"] == 2 * metrics["parameters"]


def test_a_joined_model_is_not_trained_anew(runs, tmp_path):
    join(runs, tmp_path / "joined")
    before = (tmp_path / "joined" / "model.safetensors").read_bytes()
    finished = run_here("train", "--resume", tmp_path / "joined")
    assert finished.code == 0, finished.err
    assert "the model is finished" in finished.err
    finished = run_here("train", "--resume", tmp_path / "joined", "--set", "training.epochs=99")
    assert finished.code == 1
    assert "without a checkpoint it cannot be trained on" in " ".join(finished.err.split())
    assert (tmp_path / "joined" / "model.safetensors").read_bytes() == before


def test_the_confidence_is_that_of_the_joined_model(runs, data, tmp_path, monkeypatch):
    monkeypatch.setattr(calibrating, "FEWEST", 1)
    join(runs, tmp_path / "joined")
    kept = (tmp_path / "joined" / "confidence.json").read_bytes()
    model = ftor.load(tmp_path / "joined")
    model.calibrate(data / "dev.tsv")
    model.save_fitted(tmp_path)
    assert (tmp_path / "confidence.json").read_bytes() == kept


def test_models_of_other_words_are_not_joined(runs, tmp_path):
    assert can_join(runs)
    shutil.copytree(runs[1], tmp_path / "other")
    (tmp_path / "other" / "vocab.json").write_text("{}")
    assert not can_join([runs[0], tmp_path / "other"])


def test_members_are_trained_side_by_side(data, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} 0.1 {number} -1\n" for number, word in enumerate("abcdefghijk")))
    settings = {"model.members": 2, "data.vectors": str(vectors), "training.epochs": 1}
    finished = run_here(*train_arguments(data, tmp_path / "run", settings))
    assert finished.code == 0, finished.err
    model = ftor.load(tmp_path / "run")
    first, second = model.network.transducers
    assert torch.equal(first.vectors.weight, second.vectors.weight)
    assert not torch.equal(first.decoder.output.weight, second.decoder.output.weight)
    assert len(model.predict(SENTENCES)) == len(SENTENCES)
    twice = ftor.load([tmp_path / "run", tmp_path / "run"])
    assert len(twice.network.transducers) == 4
    new_word = [*SENTENCES, "a zebra"]  # all members must look it up
    assert [one.text for one in twice.predict(new_word)] == [one.text for one in model.predict(new_word)]


def test_rescored_members_train_no_reader():
    with pytest.raises(FtorError, match="members: with a rescorer, needs reader_layers = 0"):
        Config.load(
            "mirror", ["model.members=2", "model.rescorer=lstm", "model.reader=x", "model.reader_layers=1"]
        )
