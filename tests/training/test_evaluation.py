"""Evaluation during training, and which epoch is the best."""

from dataclasses import replace

import pytest

from ftor.metrics import evaluate
from ftor.model.tensors import load_tensors
from ftor.training.evaluation import selection_key
from support import tiny_geo
from support.tiny import metrics, run_here, train_arguments


class TestSelectionKey:
    @pytest.fixture
    def half_right(self):
        """Give metrics with an exact match of 0.5, another accuracy and a score."""
        found = evaluate([["a"], ["b"]], [["a"], ["c"]])
        return replace(found, shares={"execution_accuracy": 0.75}, scores={"BLEU-3": 0.25})

    @pytest.mark.parametrize(
        ("select_by", "key"),
        [
            ("loss", [-2.0]),
            ("exact_match", [0.5, -2.0]),
            ("accuracy", [0.75, 0.5, -2.0]),
            ("BLEU-3", [0.25, 0.5, -2.0]),
        ],
    )
    def test_ties_are_broken_by_exact_match_and_loss(self, half_right, select_by, key):
        assert selection_key(select_by, half_right, 2.0) == key

    def test_the_accuracy_is_exact_match_without_judges(self, half_right):
        assert selection_key("accuracy", replace(half_right, shares={}), 2.0) == [0.5, 0.5, -2.0]


class TestBestEpoch:
    @pytest.mark.parametrize(
        ("select_by", "exact_matches", "losses"),
        [
            ("exact_match", [0.25, 0.75, 0.5], [3.0, 2.0, 1.0]),
            ("exact_match", [0.5, 0.5, 0.5], [3.0, 1.0, 2.0]),
            ("loss", [0.25, 0.5, 0.75], [3.0, 1.0, 2.0]),
            ("accuracy", [0.25, 0.75, 0.5], [3.0, 2.0, 1.0]),
            ("BLEU-3", [0.25, 0.75, 0.5], [3.0, 2.0, 1.0]),
        ],
        ids=["exact match", "equal exact matches", "loss", "accuracy", "BLEU-3"],
    )
    def test_is_the_best_on_dev(self, trainer, trained, monkeypatch, select_by, exact_matches, losses):
        def fake_metrics(pairs, grammar, quick=False):
            number = len(made.state.history)
            found = true_metrics(pairs, grammar, quick=True)
            share = exact_matches[number] if number < 3 else 0.0
            if select_by == "accuracy":
                return replace(found, exact_match=0.0, shares={"clause_accuracy": share, "well_formed": 1.0})
            if select_by == "BLEU-3":
                return replace(found, exact_match=0.0, scores={"BLEU-3": share, "CIDEr": 10 - share})
            return replace(found, exact_match=share)

        task = "style" if select_by == "BLEU-3" else "pairs"
        if task == "style":
            pytest.importorskip("pycocoevalcap")
        made = trainer(training__epochs=3, training__select_by=select_by, data__task=task)
        true_metrics = made.evaluator.metrics
        monkeypatch.setattr(made.evaluator, "metrics", fake_metrics)
        monkeypatch.setattr(made.evaluator, "loss", lambda pairs: losses[len(made.state.history)])
        assert made.run()["best_epoch"] == 2
        weights, _ = load_tensors(made.folder / "model.safetensors")
        after_two_epochs, _ = load_tensors(trained / "checkpoint.safetensors")
        assert all(weights[name].equal(after_two_epochs[f"model.{name}"]) for name in weights)


def test_a_task_finds_its_facts_in_the_data_folder(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = {"data.task": "geo", "training.epochs": 1}
    arguments = train_arguments(data, tmp_path / "run", settings)
    finished = run_here(*arguments, "--data-dir", tiny_geo.write(tmp_path / "facts"))
    assert finished.code == 0, finished.err
    assert set(metrics(tmp_path / "run")["test"]["shares"]) == {
        "execution_accuracy",
        "execution_accuracy_released",
    }
