"""Carrying out what is planned, wherever that is, and recording each run as soon as it is finished."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from ftor.files import append_json_line
from ftor.jobs import Event, Executor, Failed, Finished, Job, Lost, Progress, Started, Stopped
from ftor.jobs.locking import lock
from ftor.lab.ledger import read_ledgers, seconds
from ftor.lab.status import Board, State, Status, headline
from ftor.training.stopping import stop_requests

SECONDS_TO_WAIT = 60.0
"""For another process that writes to the ledgers."""
LOST_AT_MOST = 3
"""How often a run is started again whose machine was lost; then it may have been its own fault."""


def carry_out(statuses: Sequence[Status], executor: Executor, ledgers: Path, board: Board) -> None:
    """Have all runs carried out, until they are done or somebody presses Ctrl-C; `statuses` say what became.

    A run that fails is left at that. One whose machine was lost is started again, and seen to be.
    """
    driver = _Driver(statuses, executor, ledgers, board)
    with stop_requests() as asked, executor, board.shown():
        while driver.busy:
            if asked[0]:
                driver.stop()
            driver.start_waiting()
            for job, event in executor.wait(1.0):
                driver.hear(job, event)
            board.refresh()


class _Driver:
    def __init__(self, statuses: Sequence[Status], executor: Executor, ledgers: Path, board: Board) -> None:
        self._executor, self._ledgers, self._board = executor, ledgers, board
        self._waiting = deque(statuses)
        self._given: dict[Job, Status] = {}
        self._stopping = False

    @property
    def busy(self) -> bool:
        return bool(self._waiting or self._given)

    def start_waiting(self) -> None:
        while self._waiting and len(self._given) < self._executor.slots:
            status = self._waiting.popleft()
            self._given[status.planned.job] = status
            self._executor.start(status.planned.job)

    def stop(self) -> None:
        """Give up what waits, and ask what runs to stop where it can go on from."""
        if self._stopping:
            return
        self._stopping = True
        while self._waiting:
            self._becomes(self._waiting.popleft(), "stopped", "not begun")
        for job in self._given:
            self._executor.stop(job)

    def hear(self, job: Job, event: Event) -> None:
        status = self._given.get(job)
        if status is None:  # late news of a run that has ended
            return
        match event:
            case Started(where):
                self._becomes(status, "running", where)
            case Progress(done, total, left):
                status.share, status.left = done / total, left
            case Finished(record):
                self._record(status, record)
                status.expected = seconds(record)
                self._ends(job, "done", headline(record))
            case Stopped():
                self._ends(job, "stopped", "goes on from here next time")
            case Failed(reason):
                self._ends(job, "failed", reason)
            case Lost(reason):
                self._lose(job, reason)

    def _record(self, status: Status, record: dict[str, object]) -> None:
        ledger = self._ledgers / f"{status.planned.table}.jsonl"
        message = f"{self._ledgers}: another process is writing to these ledgers"
        # Another command may reproduce the same table in another folder.
        with lock(self._ledgers / ".lock", message, SECONDS_TO_WAIT):
            if not status.planned.is_in(read_ledgers(self._ledgers)):
                append_json_line(ledger, status.planned.record(record))

    def _lose(self, job: Job, reason: str) -> None:
        status = self._given[job]
        status.losses += 1
        if self._stopping:
            self._ends(job, "stopped", reason)
        elif status.losses > LOST_AT_MOST:
            self._ends(job, "failed", f"lost {status.losses} times; {reason}")
        else:
            del self._given[job]
            self._waiting.appendleft(status)
            self._becomes(status, "waiting", f"to be started again: {reason}")

    def _ends(self, job: Job, state: State, note: str) -> None:
        self._becomes(self._given.pop(job), state, note)

    def _becomes(self, status: Status, state: State, note: str) -> None:
        status.state, status.note, status.left = state, note, None
        self._board.changed(status)
