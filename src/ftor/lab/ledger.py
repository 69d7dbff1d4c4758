"""Which runs the ledgers hold, and which of them count."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ftor.config import Config
from ftor.errors import FtorError
from ftor.files import read_json_lines

Record = Mapping[str, Any]

LONG_FILE = "mirror-long.tsv"
"""The strings of 30, 50 and 100 symbols."""
TIME_BY_LENGTH = "time by length"
"""The kind of a record of benchmarks/output_length.py; that of a run has none."""

IDENTITY = ("experiment", "config", "seed", "file", "kind")
"""Of records that share all of these, the newest counts."""


def read_ledgers(folder: Path) -> list[Record]:
    """All lines of all ledgers; a later one of the same experiment, settings, seed and file replaces one."""
    newest: dict[tuple[Any, ...], Record] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, record in enumerate(read_json_lines(path), 1):
            if not record.keys() >= {"experiment", "seed"}:
                raise FtorError(f"{path}:{number}: not the record of a run: no experiment or no seed")
            newest[tuple(map(record.get, IDENTITY))] = record
    return list(newest.values())


@lru_cache
def shipped_hash(experiment: str) -> str:
    """The hash of the configuration that is shipped under a name."""
    return Config.load(experiment).hash


def as_shipped(records: Iterable[Record], experiment: str) -> list[Record]:
    """The records of an experiment as it is shipped, nothing changed but the seed."""
    wanted = shipped_hash(experiment)
    return [r for r in records if r["experiment"] == experiment and r.get("config") == wanted]


def finished_runs(records: Iterable[Record], experiment: str) -> list[Record]:
    """The runs that count: as shipped, finished and tested; by seed."""
    found = [record for record in as_shipped(records, experiment) if record.get("test")]
    return sorted(found, key=lambda record: int(record["seed"]))


def evaluations(records: Iterable[Record], experiment: str, file: str) -> list[Record]:
    """The metrics of an experiment, as it is shipped, on a file of its own."""
    return [r["metrics"] for r in as_shipped(records, experiment) if r.get("file") == file]


def seconds(run: Record) -> float:
    """What a run took; the first ones did not say how long dev took."""
    return float(run["seconds"]) + float(run.get("dev_seconds", 0))
