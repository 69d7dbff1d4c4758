"""Tables of results: the paper's numbers, ours, and their differences. `ftor.show.results` formats them."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ftor.config import Config
from ftor.errors import FtorError
from ftor.lab.ledger import (
    LONG_FILE,
    Record,
    evaluations,
    finished_runs,
    read_ledgers,
    seconds,
    shipped_hash,
)
from ftor.lab.paper import LENGTHS, STYLE_SCORES, TABLES, WITH_GRAMMAR, WITHOUT, PaperNumber, Row, Table
from ftor.lab.trivial import TRIVIAL
from ftor.metrics import CIDER

ACCURACIES = {"geo": "execution_accuracy", "atis": "tree_accuracy", "okapi": "clause_accuracy"}
"""The share of correct outputs that the paper reports, by table."""
MEASURES = {
    "mirror": "exact match, percent",
    "geo": "execution accuracy, percent",
    "atis": "accuracy up to the order of conjuncts, percent",
    "okapi": "accuracy of the set of clauses, percent",
    "style": "scores times 100, but CIDEr up to 10",
}


@dataclass(frozen=True)
class Measured:
    """A number of several runs: one value per seed."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return statistics.mean(self.values)

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the sample. None for a single value."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def n(self) -> int:
        """Number of seeds."""
        return len(self.values)


def measured(values: Iterable[float | None]) -> Measured | None:
    """Return the values that are not None. None if there is none."""
    known = tuple(value for value in values if value is not None)
    return Measured(known) if known else None


class Point(NamedTuple):
    """The percentages of several runs on the examples with one length, or one number of parameters.

    Attributes:
        x: the length or number.
        examples: how many there are.
    """

    x: int
    ours: Measured
    examples: int


def points(metrics: Iterable[Record], groups: str, by: str, share: str) -> tuple[Point, ...]:
    """Return a point for each value of `by` in the lists `groups` of several runs' metrics."""
    by_x: dict[int, list[Record]] = {}
    for group in (group for run in metrics for group in run[groups]):
        by_x.setdefault(group[by], []).append(group)
    return tuple(
        Point(x, Measured(tuple(100 * group[share] for group in same)), same[0]["count"])
        for x, same in sorted(by_x.items())
    )


@dataclass(frozen=True)
class Comparison:
    """One column of a row: the paper's number and ours.

    Attributes:
        digits: number of decimals in the paper.
        trivial: the numbers of trivial outputs, by their name.
    """

    column: str
    paper: PaperNumber | None
    ours: Measured | None
    digits: int
    trivial: Mapping[str, float | None]

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None or self.ours is None else self.ours.mean - self.paper.mean


@dataclass(frozen=True)
class ResultRow:
    """A model on a split.

    Attributes:
        seeds: of the runs that count.
        details: further numbers, without a grammar.
        seconds: time of all runs for training and for evaluation on dev.
    """

    model: str
    split: str
    experiment: str
    seeds: tuple[int, ...]
    comparisons: tuple[Comparison, ...]
    details: Mapping[str, Measured | None]
    seconds: float


@dataclass(frozen=True)
class ResultTable:
    """One dataset.

    Attributes:
        name: as in commands.
        measure: what the numbers are.
        paper_seeds: number of seeds in the paper.
        far_beyond: exact match on inputs much longer than in training, by length. Only mirror has them.
    """

    name: str
    title: str
    measure: str
    paper_seeds: int
    rows: tuple[ResultRow, ...]
    far_beyond: tuple[Point, ...] = ()

    @property
    def runs(self) -> int:
        """Number of runs that count."""
        return sum(len(row.seeds) for row in self.rows)

    @property
    def hours(self) -> float:
        """Time of all runs together."""
        return sum(row.seconds for row in self.rows) / 3600

    @property
    def not_run(self) -> list[ResultRow]:
        """Rows without a run."""
        return [row for row in self.rows if not row.seeds]

    @property
    def fewer_seeds(self) -> list[ResultRow]:
        """Rows with fewer runs than in the paper, but not without runs."""
        return [row for row in self.rows if 0 < len(row.seeds) < self.paper_seeds]


def tables(
    records_or_folder: Iterable[Record] | Path | str, names: Iterable[str] | None = None
) -> dict[str, ResultTable]:
    """Return the tables with some names, or all tables, from a folder of ledgers or from their records."""
    names = list(TABLES) if names is None else list(names)
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        raise FtorError(f"{', '.join(unknown)}: no such table; the tables are {', '.join(TABLES)}")
    if isinstance(records_or_folder, Path | str):
        folder = Path(records_or_folder)
        if not folder.is_dir():
            raise FtorError(f"{folder}: no such folder; --ledgers names the folder of the ledgers")
        records = read_ledgers(folder)
    else:
        records = list(records_or_folder)
    return {name: _table(name, TABLES[name], records) for name in names}


def passed_over(records: Iterable[Record]) -> Counter[str]:
    """Return the number of finished runs that no table counts, by experiment."""
    shipped = {
        row.experiment: shipped_hash(row.experiment) for table in TABLES.values() for row in table.rows
    }
    return Counter(
        record["experiment"]
        for record in records
        if record.get("test") and record.get("config") != shipped.get(record["experiment"], "")
    )


def _table(name: str, paper: Table, records: Sequence[Record]) -> ResultTable:
    rows = tuple(_row(name, row, records) for row in paper.rows)
    long = evaluations(records, "mirror", LONG_FILE) if name == "mirror" else []
    far = points(long, "by_length", "length", "exact_match")
    return ResultTable(name, paper.title, MEASURES[name], paper.seeds, rows, far)


def _row(table: str, paper: Row, records: Sequence[Record]) -> ResultRow:
    runs = finished_runs(records, paper.experiment)
    columns = _columns(table, paper)
    trivial = _trivial(paper, records) if table == "style" else {}
    comparisons = []
    for column in columns:
        ours = measured(_number(table, column, run) for run in runs)
        copies = {name: _score(metrics, column) for name, metrics in trivial.items()}
        digits = 3 if column == CIDER else 2 if table == "atis" else 1
        if column != WITH_GRAMMAR or column in paper.numbers or ours is not None:
            comparisons.append(Comparison(column, paper.numbers.get(column), ours, digits, copies))
    return ResultRow(
        *(paper.model, paper.split, paper.experiment),
        seeds=tuple(int(run["seed"]) for run in runs),
        comparisons=tuple(comparisons),
        details=_details(runs),
        seconds=sum(seconds(run) for run in runs),
    )


def _columns(table: str, paper: Row) -> Sequence[str]:
    if table == "mirror":
        return ("dev", *LENGTHS) if paper.split == "length" else ("test",)
    return STYLE_SCORES if table == "style" else (WITH_GRAMMAR, WITHOUT)


def _number(table: str, column: str, run: Record) -> float | None:
    """Return a run's number in a column, scaled as in the paper."""
    if table == "mirror":
        if column in LENGTHS:
            return accuracy(run["test"]["by_length"], LENGTHS[column])
        return 100 * float(run[column]["exact_match"])
    if table == "style":
        return _score(run["test"], column)
    metrics = run.get("test_grammar" if column == WITH_GRAMMAR else "test")
    return None if metrics is None else 100 * float(metrics["shares"][ACCURACIES[table]])


def accuracy(by_length: Iterable[Record], lengths: range) -> float | None:
    """Return exact match in percent over all examples of some lengths. None without examples."""
    groups = [group for group in by_length if group["length"] in lengths]
    right = sum(group["count"] * group["exact_match"] for group in groups)
    count = sum(group["count"] for group in groups)
    return float(100 * right / count) if count else None


def _score(metrics: Record | None, name: str) -> float | None:
    """Return a score, scaled as in the paper. METEOR is missing if Java was."""
    score = None if metrics is None else metrics["scores"].get(name)
    return None if score is None else float(score) * (1 if name == CIDER else 100)


def _trivial(paper: Row, records: Iterable[Record]) -> dict[str, Record | None]:
    """Return the metrics of trivial outputs on the test pairs of a row."""
    file = Config.load(paper.experiment).data.test
    metrics = {r["experiment"]: r["metrics"] for r in records if r.get("file") == file and "metrics" in r}
    return {name: metrics.get(name) for name in TRIVIAL}


def _details(runs: Sequence[Record]) -> dict[str, Measured | None]:
    tests = [run["test"] for run in runs]
    well_formed = [test.get("shares", {}).get("well_formed") for test in tests]  # None without a grammar
    return {
        "exact match": measured(100 * test["exact_match"] for test in tests),
        "as released": measured(map(_as_released, tests)),
        "as released, grammar": measured(_as_released(run.get("test_grammar", {})) for run in runs),
        "length error": measured(test["length_error"] for test in tests),
        "well-formed": measured(None if share is None else 100 * share for share in well_formed),
        "minutes": measured(seconds(run) / 60 for run in runs),
    }


def _as_released(metrics: Record) -> float | None:
    """Return Geoquery's execution accuracy as the released code computes it, without the spaces in names."""
    share = metrics.get("shares", {}).get("execution_accuracy_released")
    return None if share is None else 100 * float(share)
