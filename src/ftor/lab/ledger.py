"""Ledgers: JSONL files with one record per finished run or evaluation."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ftor.config import Config
from ftor.errors import FtorError
from ftor.files import append_json_line, read_json_lines
from ftor.jobs.locking import lock

Record = Mapping[str, Any]

LONG_FILE = "mirror-long.tsv"
"""The pairs with inputs of 30, 50 and 100 symbols."""
TIME_BY_LENGTH = "time by length"
"""The `kind` of the records of benchmarks/output_length.py. Other records have no kind."""
IDENTITY = ("experiment", "config", "seed", "file", "kind")
"""Of records that share all of these, the newest counts."""
SECONDS_TO_WAIT = 60.0
"""For another process that writes to the same ledgers."""


def read_ledgers(folder: Path) -> list[Record]:
    """Read all ledgers in a folder. Of records with the same identity, only the newest is returned."""
    newest: dict[tuple[Any, ...], Record] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, record in enumerate(read_json_lines(path), 1):
            if not record.keys() >= {"experiment", "seed"}:
                raise FtorError(f"{path}:{number}: not the record of a run: no experiment or no seed")
            newest[_identity(record)] = record
    return list(newest.values())


def append_once(folder: Path, name: str, record: Record) -> None:
    """Append a record to the ledger `name`, unless a ledger of the folder has one with the same identity."""
    with lock(folder / ".lock", f"{folder}: another process is writing to these ledgers", SECONDS_TO_WAIT):
        if _identity(record) not in map(_identity, read_ledgers(folder)):
            append_json_line(folder / f"{name}.jsonl", record)


def _identity(record: Record) -> tuple[Any, ...]:
    return tuple(map(record.get, IDENTITY))


@lru_cache
def shipped_hash(experiment: str) -> str:
    """Return the hash of a shipped experiment's configuration."""
    return Config.load(experiment).hash


def as_shipped(records: Iterable[Record], experiment: str) -> list[Record]:
    """Return the records of an experiment with the shipped settings and any seed."""
    settings = experiment, shipped_hash(experiment)
    return [record for record in records if (record["experiment"], record.get("config")) == settings]


def finished_runs(records: Iterable[Record], experiment: str) -> list[Record]:
    """Return the runs that count for an experiment: with the shipped settings, and tested. Sorted by seed."""
    runs = [record for record in as_shipped(records, experiment) if record.get("test")]
    return sorted(runs, key=lambda record: int(record["seed"]))


def evaluations(records: Iterable[Record], experiment: str, file: str) -> list[Record]:
    """Return the metrics of an experiment with the shipped settings on a file of pairs."""
    return [record["metrics"] for record in as_shipped(records, experiment) if record.get("file") == file]


def seconds(run: Record) -> float:
    """Return how long a run took. The oldest records lack the time for dev."""
    return float(run["seconds"]) + float(run.get("dev_seconds", 0))
