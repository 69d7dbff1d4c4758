"""Jobs so small that they take a second each, and what becomes of them."""

import json
import time
from pathlib import Path

from ftor.config import Config
from ftor.jobs import Event, Executor, Failed, Finished, Job, Lost, Stopped
from support.tiny import SETTINGS, write_data


def small_job(folder: Path, seed: int = 0, epochs: int = 2, **settings: object) -> Job:
    """A run of tiny mirror pairs below `folder`."""
    data = folder / "data"
    if not data.exists():
        data.mkdir(parents=True)
        write_data(data)
    files = {f"data.{split}": str(data / f"{split}.tsv") for split in ("train", "dev", "test")}
    values = SETTINGS | files | {"training.seed": seed, "training.epochs": epochs} | settings
    overrides = [f"{key}={json.dumps(value)}" for key, value in values.items()]
    return Job(Config.load("transducer", overrides), folder / "runs" / f"small-{seed}")


def ends(executor: Executor, *jobs: Job, seconds: float = 120) -> dict[Job, Event]:
    """Wait until all jobs have ended, and say how each did."""
    last: dict[Job, Event] = {}
    deadline = time.monotonic() + seconds
    while len(last) < len(jobs):
        assert time.monotonic() < deadline, f"still running: {set(jobs) - set(last)}"
        for job, event in executor.wait(1.0):
            if isinstance(event, Finished | Stopped | Failed | Lost):
                assert job not in last, f"{job.name} ended twice"
                last[job] = event
    return last


def until(executor: Executor, kind: type[Event], job: Job, seconds: float = 120) -> Event:
    """Wait for an event of a kind from a job."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for its, event in executor.wait(1.0):
            if its == job:
                if isinstance(event, kind):
                    return event
                assert not isinstance(event, Failed), event
    raise AssertionError(f"no {kind.__name__} of {job.name}")
