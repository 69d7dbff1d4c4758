"""Which runs a table takes: its experiments times seeds, and which of them are done already."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ftor.config import Config, ConfigError
from ftor.datasets.splits import require_files
from ftor.jobs import Job
from ftor.lab.ledger import Record, seconds
from ftor.lab.paper import TABLES, Row

SEED = ("seed", "training.seed")


@dataclass(frozen=True)
class Planned:
    """A run of a row of a table."""

    table: str
    row: Row
    job: Job

    @property
    def name(self) -> str:
        """What to call it: its experiment and seed."""
        return f"{self.row.experiment}-{self.job.config.training.seed}"

    def record(self, found: dict[str, Any]) -> dict[str, Any]:
        """The ledger's line of the finished run."""
        return {"table": self.table, "model": self.row.model, "split": self.row.split} | found

    def is_in(self, records: Iterable[Record]) -> bool:
        """Whether it has been recorded."""
        config = self.job.config
        wanted = config.name, config.hash, config.training.seed
        return any(
            (record["experiment"], record.get("config"), record["seed"]) == wanted
            for record in records
            if record.get("test")
        )

    def seconds(self, records: Iterable[Record]) -> float | None:
        """How long it takes, if such a run has been recorded with any seed."""
        wanted = self.job.config.name, self.job.config.hash
        known = [
            seconds(record)
            for record in records
            if (record["experiment"], record.get("config")) == wanted and record.get("test")
        ]
        return statistics.mean(known) if known else None


@dataclass(frozen=True)
class Choice:
    """What to reproduce.

    Attributes:
        tables: their names.
        seeds: how many of each row, from 0 on; as many as the paper has if not given.
        only: patterns of experiments' names, one of which has to fit; none for all.
        baselines: whether to run the models that the paper compares with, too.
        overrides: changes of the configuration of every run, for a try.
    """

    tables: Sequence[str]
    seeds: int | None = None
    only: Sequence[str] = ()
    baselines: bool = False
    overrides: Sequence[str] = ()


def plan(choice: Choice, out: Path, data_folder: Path | None, threads: int) -> list[Planned]:
    """All runs, the first seed of every row first, so that a table is soon whole."""
    seeded = [override for override in choice.overrides if override.split("=")[0].strip() in SEED]
    if seeded:
        raise ConfigError(f"--set {seeded[0]}: runs have their own seeds; --seeds says how many")
    rows = [(table, row) for table in choice.tables for row in TABLES[table].rows if _chosen(row, choice)]
    if not rows:
        known = [row.experiment for table in choice.tables for row in TABLES[table].rows]
        raise ConfigError(
            f"--only {', '.join(choice.only)}: expected experiments of {', '.join(choice.tables)}, which are "
            f"{', '.join(known)}"
        )
    data_folder = data_folder and data_folder.absolute()  # a cluster's nodes have other working folders
    planned = []
    for seed in range(max(_seeds(choice, table) for table in choice.tables)):
        for table, row in rows:
            if seed < _seeds(choice, table):
                config = Config.load(row.experiment, [*choice.overrides, f"training.seed={seed}"])
                gpus = float(config.model.wants_gpu)
                # Another configuration, of a try or of another version, is another run.
                folder = out.absolute() / f"{row.experiment}-{seed}-{config.hash[:6]}"
                planned.append(Planned(table, row, Job(config, folder, data_folder, threads, gpus)))
    return planned


def require_data(planned: Iterable[Planned], data_folder: Path | None) -> None:
    """See that the files are there that the runs need, before any of them begins."""
    for config in {run.row.experiment: run.job.config for run in planned}.values():
        require_files(config, data_folder)


def _seeds(choice: Choice, table: str) -> int:
    return TABLES[table].seeds if choice.seeds is None else choice.seeds


def _chosen(row: Row, choice: Choice) -> bool:
    """A baseline is chosen by its name, too."""
    if choice.only:
        return any(fnmatch(row.experiment, pattern) for pattern in choice.only)
    return choice.baselines or not row.baseline
