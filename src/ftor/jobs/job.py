"""One run of many: an experiment with its seed, folder and share of the machine, and what is heard of it."""

import json
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from ftor.config import Config


@dataclass(frozen=True)
class Job:
    """A run to be carried out somewhere.

    Attributes:
        folder: where the run lives; what is there already is gone on with.
        data_folder: where its pairs are, if the user says so.
        threads: CPU threads that it may use.
        gpus: GPUs that it needs, on a cluster.
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
        """The folder's, which tells jobs apart."""
        return self.folder.name

    @property
    def log(self) -> Path:
        """Where what the run says is kept."""
        return self.folder.with_name(f"{self.name}.log")

    def to_json(self) -> str:
        """One line from which `from_json` makes the same job in another process."""
        data_folder = None if self.data_folder is None else str(self.data_folder.absolute())
        values = {"config": self.config.to_toml(), "folder": str(self.folder), "data_folder": data_folder}
        return json.dumps(values | {"threads": self.threads, "gpus": self.gpus})

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Undo `to_json`."""
        values = json.loads(line)
        config = Config.check(tomllib.loads(values["config"]), values["folder"])
        data_folder = values["data_folder"] and Path(values["data_folder"])
        return cls(config, Path(values["folder"]), data_folder, values["threads"], values["gpus"])


@dataclass(frozen=True)
class Started:
    """It has its place, and begins or goes on."""

    where: str


@dataclass(frozen=True)
class Progress:
    """How many examples it has trained on, and how long it will still take at this rate."""

    done: int
    total: int
    seconds_left: float


@dataclass(frozen=True)
class Epoch:
    """What was found at the end of an epoch, as in the run's log."""

    record: dict[str, Any]


@dataclass(frozen=True)
class Finished:
    """It is done; `record` is the ledger's line."""

    record: dict[str, Any]


@dataclass(frozen=True)
class Stopped:
    """Somebody stopped it; it can go on."""


@dataclass(frozen=True)
class Failed:
    """It cannot go on, and why."""

    reason: str


@dataclass(frozen=True)
class Lost:
    """The machine that carried it out is gone, through no fault of its own; a cluster has others."""

    reason: str


Event = Started | Progress | Epoch | Finished | Stopped | Failed | Lost
_EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind for kind in (Started, Progress, Epoch, Finished, Stopped, Failed, Lost)
}
Send = Callable[[Event], None]
LAST = (Finished, Stopped, Failed, Lost)
"""After one of these, nothing more is heard of a job."""


def event_to_json(event: Event) -> str:
    """One line from which `event_from_json` makes the same event."""
    return json.dumps({"event": type(event).__name__} | asdict(event))


def event_from_json(line: str) -> Event:
    """Undo `event_to_json`."""
    values = json.loads(line)
    return _EVENTS[values.pop("event")](**values)


class Executor(Protocol):
    """A place where jobs are carried out. Used with `with`, which leaves none running."""

    slots: int
    """How many jobs it can be given at a time."""

    def __enter__(self) -> Self:
        """Get ready."""
        ...

    def __exit__(self, *error: object) -> None:
        """Stop what still runs."""
        ...

    def start(self, job: Job) -> None:
        """Carry out a job, now or when there is room."""
        ...

    def stop(self, job: Job) -> None:
        """Have a job stop where it can go on from; `Stopped` says when it has."""
        ...

    def wait(self, seconds: float) -> list[tuple[Job, Event]]:
        """What has happened, after waiting for that long at most."""
        ...
