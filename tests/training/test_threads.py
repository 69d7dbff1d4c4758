"""The number of threads: measured for a new run, kept by a run that is resumed."""

import json

import pytest
import torch

from ftor.training import threads
from ftor.training.trainer import Trainer
from support import tiny


@pytest.fixture(autouse=True)
def _restored():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class Clock:
    """A clock that passes move on, by their number of threads."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds

    def perf_counter(self):
        return self.now

    def passes(self, number):
        self.now += self.seconds[torch.get_num_threads()]


@pytest.mark.parametrize(
    ("seconds", "chosen"),
    [
        ({1: 0.02, 2: 0.012, 4: 0.02}, 2),
        ({1: 0.03, 2: 0.02, 4: 0.012}, 4),
        ({1: 0.02, 2: 0.019, 4: 0.04}, 1),  # hardly faster
        ({1: 0.01, 2: 0.05, 4: 0.05}, 1),  # another program has the other cores
    ],
    ids=["two", "four", "hardly faster", "busy"],
)
def test_more_threads_are_used_if_they_are_clearly_faster(seconds, chosen, monkeypatch):
    clock = Clock(seconds)
    monkeypatch.setattr(threads, "time", clock)
    found = threads.fastest(clock.passes, steps=10**6, most=4)
    assert found.threads == torch.get_num_threads() == chosen
    assert found.gain == pytest.approx(seconds[1] / min(seconds[2], seconds[4]))
    assert clock.now < 1.3
    assert str(found).startswith(f"threads: {chosen}; more than one are ")


def test_a_short_run_and_a_process_with_one_thread_measure_nothing():
    calls = []
    assert threads.fastest(calls.append, steps=10, most=2) == (1, None)
    assert len(calls) == 2
    assert threads.fastest(calls.append, steps=10**9, most=1) == (1, None)
    assert len(calls) == 2


@pytest.fixture
def used(monkeypatch):
    """The numbers of threads of all steps."""
    numbers, step = [], Trainer.step

    def noting(self, rows):
        numbers.append(torch.get_num_threads())
        return step(self, rows)

    monkeypatch.setattr(Trainer, "step", noting)
    return numbers


def choose(chosen, monkeypatch):
    """Let a number of threads be the fastest."""

    def fastest(passes, steps, most):
        passes(0)
        torch.set_num_threads(chosen)
        return threads.Choice(chosen, 1.5)

    monkeypatch.setattr(threads, "fastest", fastest)


def train(folder, pairs, *options):
    files = "--train", pairs / "train.tsv", "--out", folder
    return tiny.run_here("train", "transducer", *files, *options, *tiny.set_arguments({}))


def test_the_chosen_number_is_said_recorded_and_kept(data, tmp_path, used, monkeypatch):
    folder = tmp_path / "run"
    choose(2, monkeypatch)
    done = train(folder, data)
    assert done.code == 0, done.err
    assert "threads: 2; more than one are 1.5 times as fast as one here" in done.err
    assert set(used) == {2}
    assert json.loads((folder / "metrics.json").read_text())["threads"] == 2
    used.clear()
    longer = ["--set", f"training.epochs={tiny.SETTINGS['training.epochs'] + 1}"]
    choose(1, monkeypatch)
    again = tiny.run_here("train", "--resume", folder, *longer)
    assert again.code == 0, again.err
    assert set(used) == {2}


def test_measuring_changes_no_result(data, tmp_path, monkeypatch):
    choose(1, monkeypatch)
    train(tmp_path / "measured", data)
    train(tmp_path / "given", data, "--threads", "1")
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("measured", "given")]
    assert weights[0] == weights[1]
