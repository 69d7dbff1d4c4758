"""`ftor.train`, and the configuration of a run from its arguments."""

import json
import signal
import sys

import pytest
import torch

import ftor
from ftor.config import Config, ConfigError
from ftor.reporting import SILENT, Report
from ftor.training.train import configure
from ftor.training.trainer import Trainer
from support import tiny
from support.tiny import assert_same_run

SETTINGS = tiny.SETTINGS | {"training.epochs": 1}


class Warnings(Report):
    """Keeps warnings."""

    def __init__(self):
        self.texts = []

    def warn(self, text):
        self.texts.append(text)


def train(experiment, folder, **arguments):
    """Train with the tiny settings, silently."""
    settings = SETTINGS | arguments.pop("settings", {})
    return ftor.train(experiment, out=folder, settings=settings, report=SILENT, **arguments)


def test_dev_pairs_that_are_training_pairs_are_counted(data, tmp_path):
    pairs = data / "train.tsv"
    model = train("transducer", tmp_path / "same", train=pairs, dev=pairs)
    metrics = json.loads((model.folder / "metrics.json").read_text())
    assert metrics["train"]["dev_pairs"] == metrics["dev"]["count"]
    card = (model.folder / "README.md").read_text()
    count = metrics["dev"]["count"]
    assert f"| trained on ({count} of {count} pairs) | {count} |" in card
    assert 'split: "train"}' in card
    assert "| dev" not in card


class TestTrain:
    def test_it_is_the_run_of_the_command(self, data, tmp_path, trained):
        files = {split: data / f"{split}.tsv" for split in ("dev", "test")}
        epochs = {"training.epochs": 2}
        pairs = str(data / "train.tsv")
        model = train("transducer", tmp_path / "run", train=pairs, **files, settings=epochs)
        assert_same_run(tmp_path / "run", trained)
        assert model.folder == tmp_path / "run"
        (found,), (wanted,) = (some.predict(["a b c"]) for some in (model, ftor.load(trained)))
        assert (found.tokens, found.score) == (wanted.tokens, wanted.score)

    def test_without_dev_pairs_some_are_held_out(self, data, tmp_path):
        model = train("transducer", str(tmp_path / "run"), train=data / "train.tsv")
        metrics = json.loads((model.folder / "metrics.json").read_text())
        assert (metrics["train"]["count"], metrics["dev"]["count"], metrics["test"]) == (23, 2, None)

    def test_a_configuration_will_do(self, data, tmp_path):
        config = Config(name="mine", training={"epochs": 1, "batch_size": 8})
        config = configure(config, {"train": data / "train.tsv"}, None, [], SILENT)
        model = train(config, tmp_path / "run", seed=3)
        assert (model.config.name, model.config.training.seed) == ("mine", 3)
        assert model.config.model.width == tiny.SETTINGS["model.width"]

    def test_a_grammar_constrains_the_outputs(self, data, tmp_path):
        (tmp_path / "my.cfg").write_text("S -> 'k' | 'k' S")
        model = train("transducer", tmp_path / "run", train=data / "train.tsv", grammar=tmp_path / "my.cfg")
        assert set(model.predict(["a b"])[0].tokens) == {"k"}

    def test_the_number_of_threads_is_restored(self, data, tmp_path, monkeypatch):
        used, step = [], Trainer.step

        def record(self, rows):
            used.append(torch.get_num_threads())
            return step(self, rows)

        monkeypatch.setattr(Trainer, "step", record)
        before = torch.get_num_threads()
        train("transducer", tmp_path / "run", train=data / "train.tsv", threads=2)
        assert set(used) == {2}
        assert torch.get_num_threads() == before

    def test_ctrl_c_raises_after_a_checkpoint(self, data, tmp_path, monkeypatch, capsys):
        def interrupted(self, rows):
            signal.raise_signal(signal.SIGINT)
            return step(self, rows)

        step = Trainer.step
        monkeypatch.setattr(Trainer, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ftor.train("transducer", train=data / "train.tsv", out=tmp_path / "run", settings=SETTINGS)
        assert (tmp_path / "run" / "checkpoint.safetensors").exists()
        assert f"stopped; to resume: ftor train --resume {tmp_path / 'run'}" in capsys.readouterr().err

    def test_what_is_neither_a_file_nor_an_experiment_is_named(self):
        with pytest.raises(ConfigError, match=r"miror: no such experiment \(did you mean mirror\?\)"):
            ftor.train("miror")

    def test_a_key_that_does_not_exist_is_named(self, data):
        with pytest.raises(ConfigError, match=r"training.epoch: unknown key .did you mean training.epochs"):
            ftor.train(data / "train.tsv", settings={"training.epoch": 3})

    def test_it_is_imported_when_it_is_used(self):
        assert ftor.train is sys.modules["ftor.tuning.train"].train
        assert "train" in dir(ftor)


class TestConfigure:
    def test_files_that_exist_here_get_their_whole_path(self, data, monkeypatch):
        monkeypatch.chdir(data)
        files = {"train": "train.tsv", "dev": "elsewhere.tsv", "test": None}
        found = configure("transducer", files, None, [], SILENT).data
        assert (found.train, found.dev, found.test) == (str(data / "train.tsv"), "elsewhere.tsv", None)

    def test_arguments_come_after_overrides(self):
        found = configure("transducer", {"train": "a.tsv"}, 5, ["seed=3", "data.train=b.tsv"], SILENT)
        assert (found.training.seed, found.data.train) == (5, "a.tsv")

    def test_the_test_pairs_of_the_experiment_are_told(self):
        report = Warnings()
        configure("mirror", {"train": "own.tsv"}, None, [], report)
        assert report.texts == [
            "no test file is given: the model is tested on mirror/test.tsv of mirror",
        ]
        configure("mirror", {"train": "own.tsv", "test": "own.tsv"}, None, [], report)
        configure("mirror", {}, None, [], report)
        assert len(report.texts) == 1
