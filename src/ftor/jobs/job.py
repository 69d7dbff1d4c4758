"""A job, the events that report on it, and the interface of places that run jobs."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import Field, TypeAdapter

from ftor.config import Config


@dataclass(frozen=True)
class Job:
    """One training run.

    Attributes:
        folder: of the run. If it holds a run that was stopped, the job resumes that run.
        data_folder: folder of the pairs, or None for the default folders.
        threads: number of CPU threads.
        gpus: number of GPUs that the job asks a cluster for.
    """

    config: Config
    folder: Path
    data_folder: Path | None = None
    threads: int = 1
    gpus: float = 0.0

    def __hash__(self) -> int:
        return hash(self.folder)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def log(self) -> Path:
        """File of the run's messages, beside its folder."""
        return self.folder.with_name(f"{self.name}.log")

    def to_json(self) -> str:
        """Return the job as one line of JSON."""
        return _JOB.dump_json(self).decode()

    @classmethod
    def from_json(cls, line: str) -> "Job":
        """Read a job from `to_json`."""
        return _JOB.validate_json(line)


@dataclass(frozen=True)
class Started:
    """The job was started or resumed."""

    where: str
    kind: Literal["started"] = "started"


@dataclass(frozen=True)
class Progress:
    """Number of examples that were trained on, of how many, and the time that the others take, if known."""

    done: int
    total: int
    seconds_left: float | None
    kind: Literal["progress"] = "progress"


@dataclass(frozen=True)
class Epoch:
    """An epoch ended. `record` is its line in the run's log."""

    record: dict[str, Any]
    kind: Literal["epoch"] = "epoch"


@dataclass(frozen=True)
class Finished:
    """The job is done. `record` is its line in a ledger."""

    record: dict[str, Any]
    kind: Literal["finished"] = "finished"


@dataclass(frozen=True)
class Stopped:
    """The job was stopped. It can be resumed."""

    kind: Literal["stopped"] = "stopped"


@dataclass(frozen=True)
class Failed:
    """The job failed. It is not started again."""

    reason: str
    kind: Literal["failed"] = "failed"


@dataclass(frozen=True)
class Lost:
    """The machine or process that ran the job is gone. The job can be resumed elsewhere."""

    reason: str
    kind: Literal["lost"] = "lost"


Event = Started | Progress | Epoch | Finished | Stopped | Failed | Lost
LAST = (Finished, Stopped, Failed, Lost)
"""No event of a job follows one of these."""
Send = Callable[[Event], None]

_JOB = TypeAdapter(Job)
_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


def event_to_json(event: Event) -> str:
    """Return an event as one line of JSON."""
    return json.dumps(asdict(event))  # keeps NaN and infinity, which pydantic writes as null


def event_from_json(line: str) -> Event:
    """Read an event from `event_to_json`."""
    return _EVENT.validate_json(line)


class Executor(Protocol):
    """A place that runs jobs, used in a `with` statement. Leaving the statement stops all jobs."""

    slots: int
    """Number of jobs that it takes at a time."""

    def __enter__(self) -> Self:
        """Get ready."""
        ...

    def __exit__(self, *error: object) -> None:
        """Stop the jobs that still run."""
        ...

    def start(self, job: Job) -> None:
        """Run a job now, or as soon as there is room."""
        ...

    def stop(self, job: Job) -> None:
        """Ask a job to stop at a checkpoint. The event `Stopped` reports when it has."""
        ...

    def wait(self, seconds: float) -> list[tuple[Job, Event]]:
        """Return new events. Waits for the first one for at most `seconds`."""
        ...
