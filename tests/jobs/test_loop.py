"""The loop, with an executor that reports what a script says."""

import signal

import pytest

from ftor.config import Config
from ftor.jobs import Epoch, Failed, Job, Lost, Started, Status, Stopped, Workload, run_jobs
from ftor.show.board import Board
from ftor.show.progress import TerminalReport
from support.scripted_jobs import Scripted, finishes


class Jobs(Workload):
    """Some seeds of an experiment."""

    def __init__(self, folder, seeds):
        configs = [Config.load("geo-iid", [f"training.seed={seed}"]) for seed in range(seeds)]
        super().__init__(
            Status(Job(config, folder / str(seed)), str(seed)) for seed, config in enumerate(configs)
        )
        self.records, self.failures, self.epochs = [], [], []

    def epoch(self, status, record):
        self.epochs.append(record["epoch"])

    def finished(self, status, record):
        self.records.append(record["seed"])
        return "good"

    def failed(self, status, reason):
        self.failures.append((status.name, reason))


def run(tmp_path, executor, seeds=2):
    jobs = seeds if isinstance(seeds, Jobs) else Jobs(tmp_path, seeds)
    jobs.ended = run_jobs(jobs, executor, Board(TerminalReport(quiet=True), jobs))
    return jobs


def states(jobs):
    return [status.state for status in jobs.statuses]


def test_every_job_finishes_once_and_as_many_run_as_there_are_slots(tmp_path):
    executor = Scripted(slots=2)
    jobs = run(tmp_path, executor, seeds=5)
    assert jobs.ended
    assert states(jobs) == ["done"] * 5
    assert jobs.records == executor.starts == list(range(5))
    assert (jobs.statuses[0].note, jobs.statuses[0].expected) == ("good", 10.0)
    assert executor.most == 2
    assert executor.left


def test_a_failed_job_is_not_started_again(tmp_path):
    executor = Scripted(1, lambda job: finishes(job) if job.config.training.seed else [Failed("no reason")])
    jobs = run(tmp_path, executor)
    assert [(status.state, status.note) for status in jobs.statuses] == [
        ("failed", "no reason"),
        ("done", "good"),
    ]
    assert executor.starts == [0, 1]
    assert jobs.failures == [("0", "no reason")]


@pytest.mark.parametrize(
    ("event", "reason"), [(Lost("node down"), "node down"), (Stopped(), "somebody stopped it")]
)
def test_a_lost_job_is_started_again_but_not_for_ever(tmp_path, event, reason):
    losses = {0: 2, 1: 9}

    def script(job):
        seed = job.config.training.seed
        losses[seed] -= 1
        return [Started("there"), event] if losses[seed] >= 0 else finishes(job)

    executor = Scripted(2, script)
    jobs = run(tmp_path, executor)
    assert [(status.state, status.losses) for status in jobs.statuses] == [("done", 2), ("failed", 4)]
    assert jobs.failures == [("1", f"lost 4 times: {reason}")]
    assert [executor.starts.count(seed) for seed in (0, 1)] == [3, 4]
    assert jobs.records == [0]


def test_ctrl_c_stops_what_runs_and_starts_nothing_more(tmp_path):
    def script(job):
        signal.raise_signal(signal.SIGINT)
        return [Started("here")]

    executor = Scripted(1, script)
    jobs = run(tmp_path, executor, seeds=3)
    assert not jobs.ended
    assert executor.starts == executor.stopped == [0]
    assert [(status.state, status.note) for status in jobs.statuses] == [
        ("stopped", "can be resumed"),
        ("stopped", "not started"),
        ("stopped", "not started"),
    ]
    assert executor.left
    assert jobs.records == []


def test_a_second_ctrl_c_ends_everything_at_once(tmp_path):
    class Deaf(Scripted):
        def stop(self, job):
            signal.raise_signal(signal.SIGINT)

    def script(job):
        signal.raise_signal(signal.SIGINT)
        return [Started("here")]

    executor = Deaf(1, script)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, executor)
    assert executor.left


def test_late_events_of_a_job_that_has_ended_are_ignored(tmp_path):
    jobs = run(tmp_path, Scripted(1, lambda job: [*finishes(job), Lost("late")]))
    assert states(jobs) == ["done"] * 2
    assert jobs.records == [0, 1]


def test_what_is_cancelled_is_stopped_or_not_started(tmp_path):
    class Cancelling(Jobs):
        def epoch(self, status, record):
            super().epoch(status, record)
            for other in self.statuses:
                other.cancelled = True

    executor = Scripted(
        2, lambda job: [Started("here"), Epoch({"epoch": 1})] if job.name == "1" else finishes(job)
    )
    jobs = run(tmp_path, executor, Cancelling(tmp_path, 4))
    assert jobs.ended, "nobody stopped the loop"
    assert states(jobs) == ["done", "stopped", "done", "stopped"]
    assert executor.stopped == [1, 2], "2 finished before it heard of it"


def test_jobs_are_added_while_others_run(tmp_path):
    class Growing(Jobs):
        def extend(self):
            if len(self.records) < 2 or len(self.statuses) == 4:
                return False
            self.statuses += Jobs(tmp_path, 4).statuses[2:]
            return True

    executor = Scripted(2)
    jobs = run(tmp_path, executor, Growing(tmp_path, 2))
    assert jobs.records == executor.starts == [0, 1, 2, 3]
