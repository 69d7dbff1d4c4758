"""Carrying out a job in the process that it was given to."""

import json
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import torch

from ftor.errors import FtorError
from ftor.jobs.job import Epoch, Event, Failed, Finished, Job, Progress, Send, Stopped
from ftor.jobs.locking import lock
from ftor.reporting import Count, LineReport
from ftor.training.run import Run

SECONDS_BETWEEN_EVENTS = 1.0
SECONDS_TO_WAIT = 60.0
"""For another process to leave the folder, for example one that was asked to stop."""


class JobError(FtorError):
    """A job that cannot be carried out in its folder."""


def outcome(job: Job, send: Send) -> Event:
    """Carry out a job, and say how it ended, whatever happens; a traceback goes to its log."""
    try:
        return perform(job, send)
    except KeyboardInterrupt:
        return Stopped()
    except (FtorError, OSError) as error:
        return Failed(str(error))
    except Exception as error:
        with job.log.open("a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        return Failed(f"{type(error).__name__}: {error}; see {job.log}")


def perform(job: Job, send: Send) -> Finished | Stopped:
    """Train from the last checkpoint in the job's folder, if there is one, to the end.

    What the run says goes to the job's log, its progress to `send`. A run that has been finished before is
    not done again: its record is read.
    """
    message = f"{job.folder}: another process is training in this folder"
    with lock(job.folder.with_name(f".{job.name}.lock"), message, SECONDS_TO_WAIT):
        return _perform(job, send)


def _perform(job: Job, send: Send) -> Finished | Stopped:
    with job.log.open("a", encoding="utf-8") as log:
        run = Run(job.config, job.folder)  # what was stopped before it got its config.toml begins anew
        if (job.folder / "config.toml").exists():
            run = Run.resume(job.folder)
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


def _recorded(path: Path) -> dict[str, Any] | None:
    """The metrics of a run that was finished, whose end nobody was there to hear of."""
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return record


class _Relay(LineReport):
    """Sends progress on as events, and puts messages into a log."""

    def __init__(self, send: Send, log: TextIO) -> None:
        super().__init__(log)
        self._send, self._last = send, -SECONDS_BETWEEN_EVENTS

    def progress(self, count: Count, text: str) -> None:
        super().progress(count, text)
        if count.done == count.total or time.monotonic() - self._last >= SECONDS_BETWEEN_EVENTS:
            self._last = time.monotonic()
            self._send(Progress(count.done, count.total or 0, count.seconds_left))

    def epoch(self, record: Mapping[str, Any]) -> None:
        self._send(Epoch(dict(record)))
