"""The runs of the paper's tables: which there are, which are recorded, and what to do with their results."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ftor.config import Config, ConfigError
from ftor.datasets import DATASETS
from ftor.datasets.fetching import fetch
from ftor.datasets.splits import datasets_of, missing_files
from ftor.jobs import Job, Status, Workload
from ftor.lab.ledger import append_once, judgements_in, read_ledgers
from ftor.lab.lines import Line, RunLine
from ftor.lab.paper import TABLES, Row
from ftor.reporting import SILENT, Report, percent
from ftor.text.reading import DataError

SEED = ("seed", "training.seed")
BEYOND = "beyond"
"""What stands for the rows of all tables that have an experiment beyond the paper, and only for these."""
SEEDS_BEYOND = 3


@dataclass(frozen=True)
class PlannedRun:
    """One seed of a row of a table, with the settings that we ship or with the paper's."""

    table: str
    row: Row
    job: Job

    @property
    def name(self) -> str:
        """Experiment and seed."""
        return f"{self.job.config.name}-{self.job.config.training.seed}"

    def record(self, metrics: dict[str, Any]) -> dict[str, Any]:
        """Return the ledger line of the finished run."""
        return {"table": self.table, "model": self.row.model, "split": self.row.split} | metrics

    def is_in(self, lines: Iterable[Line]) -> bool:
        """Return whether the run is recorded."""
        return any(run.seed == self.job.config.training.seed for run in self._alike(lines))

    def seconds(self, lines: Iterable[Line]) -> float | None:
        """Return how long the run takes, if one with the same settings is recorded."""
        known = [run.all_seconds for run in self._alike(lines)]
        return statistics.mean(known) if known else None

    def _alike(self, lines: Iterable[Line]) -> list[RunLine]:
        """Return the finished runs with the same settings and any seed."""
        settings = self.job.config.name, self.job.config.hash
        runs = [line for line in lines if isinstance(line, RunLine) and line.test]
        return [run for run in runs if (run.experiment, run.config) == settings]


def plan_runs(
    tables: Sequence[str],
    out: Path,
    seeds: int | None = None,
    only: Sequence[str] = (),
    baselines: bool = False,
    overrides: Sequence[str] = (),
    data_folder: Path | None = None,
    threads: int = 1,
) -> list[PlannedRun]:
    """Return the runs of some tables. The first seed of all rows comes first.

    Args:
        tables: their names, or `BEYOND`.
        out: folder of the runs' folders.
        seeds: how many of each row; as many as in the paper if None.
        only: patterns of experiment names. With patterns, all experiments that match any of them are run:
            those that we ship, and those with the paper's settings.
        baselines: without patterns, also run the models that the paper compares with.
        overrides: `section.key=value` changes of every configuration.
        data_folder: folder of the pairs, or None for the default folders.
        threads: CPU threads of each run.
    """
    seeded = [override for override in overrides if override.split("=")[0].strip() in SEED]
    if seeded:
        raise ConfigError(f"--set {seeded[0]}: the runs have seeds of their own; use --seeds to say how many")
    is_beyond = BEYOND in tables
    if is_beyond and len(tables) > 1:
        raise ConfigError(f"{BEYOND} has experiments of all tables: plan it alone")
    all_rows = _rows_beyond() if is_beyond else _rows(tables)
    if only:
        rows = [each for each in all_rows if any(fnmatch(each[2], pattern) for pattern in only)]
    elif is_beyond:
        rows = all_rows
    else:
        shipped = [(table, row, name) for table, row, name in all_rows if name == row.experiment]
        rows = [each for each in shipped if baselines or not each[1].baseline]
    if not rows:
        names = ", ".join(name for _, _, name in all_rows)
        raise ConfigError(f"--only {', '.join(only)}: no such experiment; {', '.join(tables)} has {names}")
    counts = {
        name: seeds or (SEEDS_BEYOND if name == row.beyond else TABLES[table].seeds)
        for table, row, name in rows
    }
    data_folder = data_folder and data_folder.absolute()  # a cluster's nodes have other working folders
    runs = []
    for seed in range(max(counts.values())):
        for table, row, name in rows:
            if seed < counts[name]:
                config = Config.load(name, [*overrides, f"training.seed={seed}"])
                gpus = float(config.model.wants_gpu)
                # Another configuration is another run, so the folder's name has its hash.
                folder = out.absolute() / f"{name}-{seed}-{config.hash[:6]}"
                runs.append(PlannedRun(table, row, Job(config, folder, data_folder, threads, gpus)))
    return runs


def tables_of(name: str) -> list[str]:
    """Return the names of the tables that a command means by `name`: a table, "all" or `BEYOND`."""
    if name == BEYOND:
        return list(dict.fromkeys(table for table, _, _ in _rows_beyond()))
    return list(TABLES) if name == "all" else [name]


def _rows(tables: Sequence[str]) -> list[tuple[str, Row, str]]:
    """Return the table, the row and the name of each experiment of some tables."""
    return [(table, row, name) for table in tables for row in TABLES[table].rows for name in row.experiments]


def _rows_beyond() -> list[tuple[str, Row, str]]:
    return [each for each in _rows(list(TABLES)) if each[2] == each[1].beyond]


class Reproduction(Workload):
    """Runs of the paper's tables. Those that the ledgers have are done. Others are recorded as they finish.

    Args:
        runs: from `plan_runs`.
        ledgers: folder of the ledgers. It is created with the first record.
        report: receives which lines are damaged.
    """

    def __init__(self, runs: Sequence[PlannedRun], ledgers: Path, report: Report = SILENT) -> None:
        lines = read_ledgers(ledgers, report) if ledgers.is_dir() else []
        super().__init__(Status(run.job, run.name, run.seconds(lines)) for run in runs)
        self._ledgers, self._runs = ledgers, {run.job: run for run in runs}
        for status in self.statuses:
            if self._runs[status.job].is_in(lines):
                status.state, status.note = "done", "recorded before"

    def require_data(self, data_folder: Path | None, fetch_to: Path | None, report: Report) -> None:
        """Download the files that the waiting runs need and that are missing.

        Args:
            data_folder: where files are looked for, if not in the usual folders.
            fetch_to: the folder that they are downloaded to. None: nothing is downloaded.
            report: receives the progress.

        Raises:
            DataError: if files are missing and not downloaded. It names the command that does it.
        """
        configs = [status.job.config for status in self.statuses if status.state == "waiting"]
        absent = list(
            dict.fromkeys(name for config in configs for name in missing_files(config, data_folder))
        )
        names = datasets_of(absent)
        unpublished = [name for name in absent if not datasets_of([name])]
        if absent and (fetch_to is None or unpublished):
            first = (unpublished or absent)[0]
            hint = f"; to download them: ftor data fetch {' '.join(names)}, or add --fetch" if names else ""
            count = "1 file is" if len(absent) == 1 else f"{len(absent)} files are"
            raise DataError(f"{count} missing, such as {first}{hint}")
        if absent and fetch_to is not None:
            fetch([DATASETS[name] for name in names], fetch_to, report)

    def finished(self, status: Status, record: dict[str, Any]) -> str:
        """Append a record to the ledger of its table, with the judgements if the run's folder is here."""
        run = self._runs[status.job]
        # Another command may reproduce the same table in another folder.
        append_once(self._ledgers, run.table, run.record(record), judgements_in(status.job.folder))
        return headline(record)


def headline(record: Mapping[str, Any]) -> str:
    """Return the main result of a run: a score, or the first share, with the grammar if there is one."""
    test = record.get("test_grammar") or record["test"]
    if test.get("scores"):
        name = "BLEU-4"
        return f"{name} {100 * test['scores'][name]:.1f}"
    shares = {name: share for name, share in (test.get("shares") or {}).items() if name != "well_formed"}
    name, share = next(iter(shares.items()), ("exact_match", test["exact_match"]))
    with_grammar = " with the grammar" if "test_grammar" in record else ""
    return f"{name.replace('_', ' ')} {percent(share)}{with_grammar}"
