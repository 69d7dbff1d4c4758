"""`ftor reproduce` in processes of its own, stopped and killed: nothing is lost, and nothing is run twice."""

import signal
import time

import pytest

from ftor.files import read_json_lines
from ftor.jobs.locking import lock_folder
from support.tiny import SETTINGS, end, run_here, start, write_data

WIDTHS = {key: value for key, value in SETTINGS.items() if key != "model.target_width"}


@pytest.fixture
def arguments(tmp_path):
    """Two seeds of F→R on tiny pairs."""
    for name in ("mirror", "mirror_xyz"):
        (tmp_path / "data" / name).mkdir(parents=True)
        write_data(tmp_path / "data" / name)

    def of(epochs, **options):
        values = WIDTHS | {"training.epochs": epochs}
        settings = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
        return [
            *("reproduce", "mirror", "--seeds", 2, "--only", "mirror", "--data-dir", tmp_path / "data"),
            *("--out", tmp_path / "runs", "--ledgers", tmp_path / "results", *settings),
            *(part for name, value in options.items() for part in (f"--{name}", value)),
        ]

    return of


def ledger(tmp_path):
    path = tmp_path / "results" / "mirror.jsonl"
    return read_json_lines(path) if path.exists() else []


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def epochs_of(tmp_path, seed):
    return sum(
        len(path.read_text().splitlines()) for path in tmp_path.glob(f"runs/mirror-{seed}-*/log.jsonl")
    )


@pytest.mark.slow
def test_a_killed_driver_stops_its_runs_and_the_same_command_goes_on(tmp_path, arguments):
    driver = start(*arguments(60))
    wait_for(lambda: all(epochs_of(tmp_path, seed) >= 2 for seed in (0, 1)))
    driver.kill()
    driver.communicate()
    assert ledger(tmp_path) == []
    finished = end(start(*arguments(60)), seconds=600)
    assert finished.code == 0, finished.err
    logs = [path.read_text() for path in tmp_path.glob("runs/mirror-*.log")]
    assert len(logs) == 2
    assert all(log.count("resuming ") == 1 for log in logs)
    assert all(log.count("stopped; to resume") == 1 for log in logs), "the runs saw that their driver is gone"
    records = ledger(tmp_path)
    assert sorted(record["seed"] for record in records) == [0, 1]
    for record in records:
        assert record["epochs"] == 60
        assert (record["table"], record["model"], record["split"]) == ("mirror", "F→R", "length")
        assert record["test"]["count"] == 6
        assert record["peak_memory_mb"] > 0
        assert {"config", "version", "commit", "seconds", "machine"} <= record.keys()
    before = (tmp_path / "results" / "mirror.jsonl").read_bytes()
    again = run_here(*arguments(60))
    assert again.code == 0
    assert f"{tmp_path / 'results'} has all of the runs (2)" in again.err
    assert (tmp_path / "results" / "mirror.jsonl").read_bytes() == before


@pytest.mark.slow
def test_ctrl_c_stops_at_a_checkpoint_and_says_so(tmp_path, arguments):
    driver = start(*arguments(5000, jobs=1))
    wait_for(lambda: epochs_of(tmp_path, 0) >= 2)
    driver.send_signal(signal.SIGINT)
    finished = end(driver)
    assert finished.code == 1
    assert "mirror-0 stopped: can be resumed" in finished.err
    assert "mirror-1 stopped: not started" in finished.err
    assert finished.err.endswith("stopped; the same command resumes the runs\n")
    assert list(tmp_path.glob("runs/mirror-0-*/checkpoint.safetensors"))
    dry = run_here(*arguments(5000), "--dry-run")
    assert dry.code == 0
    states = [line.split()[:3] for line in dry.out.splitlines() if line.startswith("mirror")]
    assert states == [["mirror-0", "half", "done"], ["mirror-1", "to", "do"]]


@pytest.mark.slow
def test_a_failed_run_is_told_of_at_the_end(tmp_path, arguments):
    (tmp_path / "data" / "mirror" / "train.tsv").write_text("no tab\n")
    finished = end(start(*arguments(2)))
    assert finished.code == 1
    for seed in (0, 1):
        assert f"warning: mirror-{seed} failed: " in finished.err
    assert finished.err.count("train.tsv:1: ") >= 2
    assert "do not count for the tables" not in finished.err, "there are none"
    assert ledger(tmp_path) == []


@pytest.mark.parametrize(
    "bad",
    [
        ["goe"],
        [],
        ["geo", "--seeds", "0"],
        ["geo", "--ray", "auto", "--jobs", "2"],
        ["geo", "--set", "training.seed=3"],
        ["geo", "--ledgers", __file__],
    ],
)
def test_bad_usage(bad):
    assert run_here("reproduce", *bad).code == 2


def test_the_help_shows_patterns_as_they_are_typed():
    finished = run_here("reproduce", "--help")
    assert "'geo-*-rf'" in finished.out
    assert "'*-paper'" in finished.out


def test_two_commands_do_not_work_in_one_folder(tmp_path, arguments):
    with lock_folder(tmp_path / "runs", "ftor reproduce"):
        finished = run_here(*arguments(1))
    assert finished.code == 1
    assert "another ftor reproduce is running in this folder; use another --out" in finished.err


def test_missing_data_is_one_error_and_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nothing").mkdir()
    finished = run_here("reproduce", "geo", "--data-dir", tmp_path / "nothing", "--ledgers", tmp_path)
    assert finished.code == 1
    assert finished.err.startswith("error: 11 files are missing, such as geo/iid_train.tsv; to download ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nothing"]
