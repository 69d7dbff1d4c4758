"""Runs and their folders, from the command line and from Python."""

import pytest

from ftor.files import read_json_lines
from support.tiny import run_here, train_arguments


class TestRecords:
    @pytest.mark.parametrize("tracker", ["tensorbord", "wandb"])
    def test_a_tracker_that_is_not_there_is_refused_at_once(self, data, tmp_path, monkeypatch, tracker):
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
        lines = read_json_lines(tmp_path / "new" / "results.jsonl")
        assert [line["seed"] for line in lines] == [0, 1]
        assert lines[0]["config"] == lines[1]["config"]


@pytest.mark.parametrize(
    "settings",
    [{"decoding.grammar": "none.cfg"}, {"data.vectors": "none.txt"}, {"data.task": "geo"}],
    ids=["grammar", "vectors", "facts"],
)
def test_nothing_is_written_where_something_is_missing(data, tmp_path, monkeypatch, settings):
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    finished = run_here(*train_arguments(data, tmp_path / "run", settings))
    assert finished.code == 1
    assert not (tmp_path / "run").exists()
