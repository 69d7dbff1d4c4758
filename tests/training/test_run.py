"""Runs and their folders, from the command line and from Python."""

from pathlib import Path

import pytest

from ftor.config import Config, ConfigError
from ftor.lab.ledger import read_ledgers
from ftor.training.run import Run
from support.tiny import run_here, train_arguments


class TestFolder:
    def test_the_default_is_the_next_free_one(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        config = Config(name="mine", training={"seed": 3})
        for name in ("mine-3", "mine-3-2", "mine-3-3"):
            folder = Run.new(config, None).folder
            assert folder == Path("runs") / name
            folder.mkdir(parents=True)

    def test_it_may_be_empty(self, tmp_path):
        assert Run.new(Config(), tmp_path).folder == tmp_path

    @pytest.mark.parametrize("name", ["folder", "file"])
    def test_anything_else_is_an_error(self, tmp_path, name):
        (tmp_path / "folder").mkdir()
        for path in (tmp_path / "folder" / "a.txt", tmp_path / "file"):
            path.touch()
        with pytest.raises(ConfigError, match=f"{name}: the folder is not empty; use --resume to continue"):
            Run.new(Config(), tmp_path / name)


class TestRecords:
    @pytest.mark.parametrize("tracker", ["tensorbord", "wandb"])
    def test_a_tracker_that_is_not_installed_is_an_error(self, data, tmp_path, monkeypatch, tracker):
        monkeypatch.setattr("ftor.training.run.get_available_trackers", lambda: ["tensorboard"])
        finished = run_here(*train_arguments(data, tmp_path / "run", {"training.trackers": [tracker]}))
        assert finished.code == 2
        assert f"training.trackers: {tracker} is not installed; installed are: tensorboard" in finished.err
        assert not (tmp_path / "run").exists()

    def test_the_ledger_grows_by_a_line(self, data, tmp_path):
        for seed in (0, 1):
            arguments = train_arguments(data, tmp_path / str(seed), {"training.epochs": 1})
            assert (
                run_here(*arguments, "--seed", seed, "--ledger", tmp_path / "new" / "results.jsonl").code == 0
            )
        lines = read_ledgers(tmp_path / "new")
        assert [line.seed for line in lines] == [0, 1]
        assert lines[0].config == lines[1].config
        assert lines[0].judged["dev"].pairs == lines[1].judged["dev"].pairs
        for line in lines:
            for split, judged in line.judged.items():
                metrics = line.metrics(split)
                assert {name: right.mean() for name, right in judged.right.items()} == pytest.approx(
                    {"exact_match": metrics.exact_match, **metrics.shares}
                )
                assert len(judged.right["exact_match"]) == metrics.count


@pytest.mark.parametrize(
    "settings",
    [{"decoding.grammar": "none.cfg"}, {"data.vectors": "none.txt"}, {"data.task": "geo"}],
    ids=["grammar", "vectors", "facts"],
)
def test_nothing_is_written_if_a_file_is_missing(data, tmp_path, monkeypatch, settings):
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    finished = run_here(*train_arguments(data, tmp_path / "run", settings))
    assert finished.code == 1
    assert not (tmp_path / "run").exists()
