"""What is done about whatever happens to runs, with an executor that makes it happen."""

import json
import signal

import pytest

from ftor.jobs import Failed, Finished, Lost, Progress, Started, Stopped
from ftor.lab.driver import carry_out
from ftor.lab.plan import Choice, plan
from ftor.lab.status import Status
from ftor.show.board import Board
from ftor.show.progress import TerminalReport

TEST = {"count": 10, "exact_match": 0.5, "shares": {"execution_accuracy": 0.75, "well_formed": 1.0}}


def record(job, **changes):
    found = {"config": job.config.hash, "experiment": job.config.name, "seed": job.config.training.seed}
    return found | {"test": TEST, "seconds": 9.0, "dev_seconds": 1.0} | changes


def finishes(job):
    return [Started("here"), Progress(1, 2, 3.0), Finished(record(job))]


class Scripted:
    """An executor that tells of each start of a job what its script says."""

    def __init__(self, slots, script=finishes):
        self.slots, self._script = slots, script
        self.starts, self._events, self.stopped, self.left, self.most = [], [], [], False, 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.left = True

    def start(self, job):
        self.starts.append(job.config.training.seed)
        self._events.append([(job, event) for event in self._script(job)])
        self.most = max(self.most, len(self._events))

    def stop(self, job):
        self.stopped.append(job.config.training.seed)
        self._events.append([(job, Stopped())])

    def wait(self, seconds):
        return self._events.pop(0) if self._events else []


def reproduce(tmp_path, executor, seeds=2):
    runs = plan(Choice(["geo"], seeds=seeds, only=["geo-iid"]), tmp_path / "runs", None, 1)
    statuses = [Status(run) for run in runs]
    carry_out(statuses, executor, tmp_path / "results", Board(TerminalReport(quiet=True), statuses, before=0))
    return statuses


def lines(tmp_path):
    path = tmp_path / "results" / "geo.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_every_run_is_recorded_once_and_as_it_finishes(tmp_path):
    executor = Scripted(slots=2)
    statuses = reproduce(tmp_path, executor, seeds=5)
    assert [status.state for status in statuses] == ["done"] * 5
    assert statuses[0].note == "execution accuracy 75.0 %"
    assert statuses[0].expected == 10.0  # for those that wait
    assert [line["seed"] for line in lines(tmp_path)] == list(range(5))
    assert lines(tmp_path)[0]["split"] == "iid"
    assert executor.most == 2
    assert executor.left


def test_what_somebody_else_recorded_meanwhile_is_not_recorded_again(tmp_path):
    def script(job):
        (tmp_path / "results").mkdir(exist_ok=True)
        with (tmp_path / "results" / "other.jsonl").open("a") as file:
            file.write(json.dumps(record(job)) + "\n")
        return finishes(job)

    statuses = reproduce(tmp_path, Scripted(1, script))
    assert [status.state for status in statuses] == ["done"] * 2
    assert lines(tmp_path) == []


def test_a_failed_run_is_left_at_that(tmp_path):
    def script(job):
        return finishes(job) if job.config.training.seed else [Failed("no reason")]

    executor = Scripted(1, script)
    statuses = reproduce(tmp_path, executor)
    assert [(status.state, status.note) for status in statuses] == [
        ("failed", "no reason"),
        ("done", "execution accuracy 75.0 %"),
    ]
    assert executor.starts == [0, 1]
    assert [line["seed"] for line in lines(tmp_path)] == [1]


def test_a_lost_run_is_started_again_and_not_for_ever(tmp_path):
    losses = {0: 2, 1: 9}

    def script(job):
        seed = job.config.training.seed
        losses[seed] -= 1
        return [Started("there"), Lost("node down")] if losses[seed] >= 0 else finishes(job)

    executor = Scripted(2, script)
    statuses = reproduce(tmp_path, executor)
    assert [(status.state, status.losses) for status in statuses] == [("done", 2), ("failed", 4)]
    assert statuses[1].note == "lost 4 times; node down"
    assert [executor.starts.count(seed) for seed in (0, 1)] == [3, 4]
    assert [line["seed"] for line in lines(tmp_path)] == [0]


def test_ctrl_c_stops_what_runs_and_begins_nothing_more(tmp_path):
    def script(job):
        signal.raise_signal(signal.SIGINT)
        return [Started("here")]

    executor = Scripted(1, script)
    statuses = reproduce(tmp_path, executor, seeds=3)
    assert executor.starts == executor.stopped == [0]
    assert [status.state for status in statuses] == ["stopped"] * 3
    assert statuses[2].note == "not begun"
    assert executor.left
    assert lines(tmp_path) == []


def test_a_second_ctrl_c_ends_everything_at_once(tmp_path):
    class Deaf(Scripted):
        def stop(self, job):
            signal.raise_signal(signal.SIGINT)

    def script(job):
        signal.raise_signal(signal.SIGINT)
        return [Started("here")]

    executor = Deaf(1, script)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, executor)
    assert executor.left


def test_late_news_of_a_run_that_has_ended_is_of_no_use(tmp_path):
    statuses = reproduce(
        tmp_path, Scripted(1, lambda job: [*finishes(job), Progress(1, 9, 1.0), Lost("late")])
    )
    assert [status.state for status in statuses] == ["done"] * 2
    assert len(lines(tmp_path)) == 2
