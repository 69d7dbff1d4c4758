"""The loop that runs many jobs: it starts them, restarts those that were lost, and stops them on Ctrl-C."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from ftor.errors import FtorError
from ftor.jobs.job import LAST, Epoch, Event, Executor, Failed, Finished, Job, Lost, Progress, Started
from ftor.reporting import Report
from ftor.training.stopping import stop_requests

SECONDS_BETWEEN_LOOKS = 0.5
RESTARTS = 3
"""Of a job that was lost. If it is lost once more, it has failed."""

JobState = Literal["waiting", "running", "done", "failed", "stopped"]


@dataclass(eq=False)
class Status:
    """The state of a job.

    Attributes:
        name: how the job is called in messages.
        expected: seconds that the job takes from start to end, if known.
        share: part that is done, from 0 to 1.
        left: seconds that the job still takes, by its own count.
        note: where it runs, its result, or why it failed.
        losses: how often its machine or process was lost.
        cancelled: whether the loop should stop it, or not start it.
    """

    job: Job
    name: str
    expected: float | None = None
    state: JobState = "waiting"
    share: float = 0.0
    left: float | None = None
    note: str = ""
    losses: int = 0
    cancelled: bool = False

    @property
    def seconds(self) -> float | None:
        """Seconds from start to end, if known."""
        if self.left is not None and self.share < 1:
            return self.left / (1 - self.share)
        return self.expected

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the job is done, if known."""
        if self.left is not None:
            return self.left
        return None if self.expected is None else self.expected * (1 - self.share)


class Workload:
    """The jobs of one command. Subclasses keep the results, and may add jobs while others run."""

    def __init__(self, statuses: Iterable[Status] = ()) -> None:
        self.statuses = list(statuses)

    def seconds_to_come(self, mean: float | None) -> float | None:
        """Return the seconds of jobs that will be added to `statuses`, all together. None if not known.

        Args:
            mean: seconds of the jobs so far.
        """
        return 0.0

    def extend(self) -> bool:
        """Add jobs to `statuses`. Returns False if there are none to add now."""
        return False

    def epoch(self, status: Status, record: Mapping[str, Any]) -> None:
        """Receive the log record of an epoch."""

    def finished(self, status: Status, record: dict[str, Any]) -> str:
        """Keep the record of a finished job. Returns the result in a few words.

        Raises:
            NoResultError: if the job has failed after all.
        """
        raise NotImplementedError

    def failed(self, status: Status, reason: str) -> None:
        """Receive the reason why a job failed."""

    def summary(self) -> str:
        """Return a line about all jobs."""
        counts = Counter(status.state for status in self.statuses)
        states: tuple[JobState, ...] = ("done", "running", "waiting", "failed", "stopped")
        return ", ".join(f"{counts[state]} {state}" for state in states if counts[state] or state == "done")


class NoResultError(FtorError):
    """A finished job whose result is not there."""


class Board(Protocol):
    """Shows the jobs while they run. `ftor.show.board` implements it."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

    def say(self, text: str) -> None:
        """Show a message."""
        ...

    def changed(self, status: Status) -> None:
        """Show that a job has another state."""
        ...

    def refresh(self) -> None:
        """Show the progress since the last call."""
        ...


class LineBoard:
    """Says how jobs end."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def say(self, text: str) -> None:
        """Say a message."""
        self._report.say(text)

    def changed(self, status: Status) -> None:
        """Say that a job is done."""
        if status.state != "running":
            self._report.say(f"{status.name} {status.state}: {status.note}")

    def refresh(self) -> None:
        """Say nothing about progress."""


def run_jobs(workload: Workload, executor: Executor, board: Board) -> bool:
    """Run all jobs.

    A failed job is not run again. A lost job is restarted from its last checkpoint.

    Returns:
        False if Ctrl-C or SIGTERM ended the loop. The jobs that ran then were stopped at a checkpoint.
    """
    loop = _Loop(workload, executor, board)
    with stop_requests() as stop, executor, board:
        while True:
            if stop.asked:
                loop.close()
            loop.start_waiting()
            if not loop.running:
                return not loop.closed
            loop.listen()
            board.refresh()


class _Loop:
    def __init__(self, workload: Workload, executor: Executor, board: Board) -> None:
        self._workload, self._executor, self._board = workload, executor, board
        self.running: dict[Job, Status] = {}
        self.closed = False
        self._stopping: set[Job] = set()

    def start_waiting(self) -> None:
        while not self.closed and len(self.running) < self._executor.slots:
            waiting = (status for status in self._workload.statuses if self._is_waiting(status))
            status = next(waiting, None)
            if status is not None:
                self.running[status.job] = status
                self._executor.start(status.job)
            elif not self._workload.extend():
                return

    def _is_waiting(self, status: Status) -> bool:
        return status.state == "waiting" and status.job not in self.running

    def close(self) -> None:
        """Start nothing more, and stop what runs."""
        if not self.closed:
            self.closed = True
            self._board.say("stopping the runs at their next checkpoint; Ctrl-C again stops at once")
            self._stop(self._workload.statuses)

    def _stop(self, statuses: Iterable[Status]) -> None:
        for status in statuses:
            if self._is_waiting(status):
                self._change(status, "stopped", "can be resumed" if status.losses else "not started")
            elif status.job in self.running and status.job not in self._stopping:
                self._stopping.add(status.job)
                self._executor.stop(status.job)

    def listen(self) -> None:
        events = self._executor.wait(SECONDS_BETWEEN_LOOKS)
        for job, event in sorted(events, key=lambda pair: isinstance(pair[1], LAST)):
            if job in self.running:  # else the event is late
                self._hear(self.running[job], event)
        self._stop(status for status in self._workload.statuses if status.cancelled)

    def _hear(self, status: Status, event: Event) -> None:
        if isinstance(event, LAST):
            del self.running[status.job]
        match event:
            case Started(where):
                self._change(status, "running", where)
            case Progress(done, total, left):
                status.share, status.left = done / total, left
            case Epoch(record):
                self._workload.epoch(status, record)
            case Finished(record):
                status.expected = record["seconds"] + record["dev_seconds"]
                self._finish(status, record)
            case _ if status.job in self._stopping:
                self._stopping.remove(status.job)
                self._change(status, "stopped", "can be resumed")
            case Failed(reason):
                self._fail(status, reason)
            case Lost(reason):
                self._restart(status, reason)
            case _:
                self._restart(status, "somebody stopped it")

    def _finish(self, status: Status, record: dict[str, Any]) -> None:
        try:
            self._change(status, "done", self._workload.finished(status, record))
        except NoResultError as error:
            self._fail(status, str(error))

    def _restart(self, status: Status, reason: str) -> None:
        status.losses += 1
        if status.losses > RESTARTS:
            self._fail(status, f"lost {status.losses} times: {reason}")
        else:
            self._change(status, "waiting", f"lost: {reason}; restart {status.losses} of {RESTARTS}")

    def _fail(self, status: Status, reason: str) -> None:
        self._change(status, "failed", reason)
        self._workload.failed(status, reason)

    def _change(self, status: Status, state: JobState, note: str) -> None:
        status.state, status.note, status.left = state, note, None
        self._board.changed(status)
