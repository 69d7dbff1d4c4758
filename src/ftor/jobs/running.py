"""Running a job in this process."""

import json
import time
import traceback
from collections.abc import Mapping
from typing import Any, TextIO

from ftor.errors import FtorError
from ftor.jobs.job import Epoch, Event, Failed, Finished, Job, Progress, Send, Stopped
from ftor.jobs.locking import lock
from ftor.reporting import Count, LineReport
from ftor.training.run import Run

SECONDS_BETWEEN_EVENTS = 1.0
SECONDS_TO_WAIT = 60.0
"""For another process to leave the folder, for example one that was asked to stop."""


class JobError(FtorError):
    """A job that cannot run in its folder."""


def run_job(job: Job, send: Send) -> Event:
    """Run a job and return its last event. Errors become events. A traceback goes to the job's log."""
    try:
        return train_job(job, send)
    except KeyboardInterrupt:
        return Stopped()
    except (FtorError, OSError) as error:
        return Failed(str(error))
    except Exception as error:
        with job.log.open("a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        return Failed(f"{type(error).__name__}: {error}; see {job.log}")


def train_job(job: Job, send: Send) -> Finished | Stopped:
    """Train to the end, from the last checkpoint in the job's folder if there is one.

    Messages go to the job's log, progress to `send`. A finished run is not trained again.
    """
    message = f"{job.folder}: another process is training in this folder"
    with (
        lock(job.folder.with_name(f".{job.name}.lock"), message, SECONDS_TO_WAIT),
        job.log.open("a", encoding="utf-8") as log,
    ):
        run = _run(job)
        record = _finished_record(job)
        if record is None:
            record = run.train(job.data_folder, _EventReport(send, log), threads=job.threads)
    return Stopped() if record is None else Finished({"config": job.config.hash, **record})


def _run(job: Job) -> Run:
    if not (job.folder / "config.toml").exists():  # new, or stopped before it was written
        return Run(job.config, job.folder)
    run = Run.resume(job.folder, overrides=[f"training.epochs={job.config.training.epochs}"])
    if (run.config.hash, run.config.training.seed) != (job.config.hash, job.config.training.seed):
        raise JobError(
            f"{job.folder}: this folder has a run of {run.config.name} with another configuration or seed; "
            "move it away"
        )
    return run


def _finished_record(job: Job) -> dict[str, Any] | None:
    """Return the metrics of a run that was finished while nobody listened."""
    try:
        record: dict[str, Any] = json.loads((job.folder / "metrics.json").read_text("utf-8"))
    except FileNotFoundError:
        return None
    return record if record["epochs"] >= job.config.training.epochs else None


class _EventReport(LineReport):
    """Sends progress as events, and writes messages to a log.

    It tells no time left before the first epoch has ended: the first batches are slow, and are not evaluated.
    """

    def __init__(self, send: Send, log: TextIO) -> None:
        super().__init__(log)
        self._send, self._last, self._has_epoch = send, -SECONDS_BETWEEN_EVENTS, False

    def progress(self, count: Count, text: str) -> None:
        super().progress(count, text)
        total = count.total or count.done
        if count.done == total or time.monotonic() - self._last >= SECONDS_BETWEEN_EVENTS:
            self._last = time.monotonic()
            self._send(Progress(count.done, total, count.seconds_left if self._has_epoch else None))

    def epoch(self, record: Mapping[str, Any]) -> None:
        self._has_epoch = True
        self._send(Epoch(dict(record)))
