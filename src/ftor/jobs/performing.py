"""Carrying out a job in the process that it was given to."""

import fcntl
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import torch
from rich.console import Console

from ftor.errors import FtorError
from ftor.jobs.job import Epoch, Finished, Job, Progress, Send, Stopped
from ftor.progress import Report
from ftor.run import Run

SECONDS_BETWEEN_EVENTS = 1.0
PATIENCE = 60.0
"""Seconds in which another process may leave a run's folder: one that was told to stop, say."""


class JobError(FtorError):
    """A job that cannot be carried out in its folder."""


def perform(job: Job, send: Send) -> Finished | Stopped:
    """Train from the last checkpoint in the job's folder, if there is one, to the end.

    What the run says goes to the job's log, its progress to `send`. A run that has been finished before is
    not done again: its record is read.
    """
    job.folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(job), job.log.open("a", encoding="utf-8") as log:
        if (job.folder / "config.toml").exists():
            run = Run.stopped(job.folder, None, ())
        else:
            run = Run.new(job.config, job.folder)
        if (run.config.hash, run.config.training.seed) != (job.config.hash, job.config.training.seed):
            raise JobError(
                f"{job.folder}: expected a run of {job.config.name} as it is configured now, found one of "
                "another configuration or seed; move it away"
            )
        record = _recorded(job.folder / "metrics.json")
        if record is None:
            torch.set_num_threads(job.threads)
            record = run.train(job.data_folder, _Relay(send, log), ledger=None)
    return Stopped() if record is None else Finished({"config": job.config.hash, **record})


@contextmanager
def _alone(job: Job) -> Iterator[None]:
    """Be the only process at work in the job's folder, on all machines that share it."""
    with job.folder.with_name(f".{job.name}.lock").open("a") as file:
        begun = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() - begun > PATIENCE:
                    raise JobError(
                        f"{job.folder}: expected nobody at work there, found another process"
                    ) from None
                time.sleep(0.2)
        yield


def _recorded(path: Path) -> dict[str, Any] | None:
    """The metrics of a run that was finished, whose end nobody was there to hear of."""
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return record


class _Relay(Report):
    """Sends progress on as events, and puts messages into a log."""

    def __init__(self, send: Send, log: TextIO) -> None:
        super().__init__(Console(file=log, soft_wrap=True, highlight=False, force_terminal=False))
        self._send, self._last = send, -SECONDS_BETWEEN_EVENTS

    def advanced(self, done: int, total: int, seconds_left: float) -> None:
        if done == total or time.monotonic() - self._last >= SECONDS_BETWEEN_EVENTS:
            self._last = time.monotonic()
            self._send(Progress(done, total, seconds_left))

    def epoch(self, record: Mapping[str, Any]) -> None:
        self._send(Epoch(dict(record)))
