"""Tables of results, free of any format: the paper's numbers, ours, and how they differ."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from ftor.lab.paper import LENGTHS, STYLE_SCORES, TABLES, WITH_GRAMMAR, WITHOUT, Published, Row, Table
from ftor.lab.trivial import TRIVIAL
from ftor.metrics import CIDER

ACCURACIES = {"geo": "execution_accuracy", "atis": "tree_accuracy", "okapi": "clause_accuracy"}
"""By table: which share of right outputs the paper counts."""
MEASURES = {
    "mirror": "exact match, percent",
    "geo": "execution accuracy, percent",
    "atis": "accuracy up to the order of conjuncts, percent",
    "okapi": "accuracy of the set of clauses, percent",
    "style": "scores times 100, but CIDEr up to 10",
}


@dataclass(frozen=True)
class Measured:
    """A number that several runs have, one per seed."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over seeds."""
        return statistics.mean(self.values)

    @property
    def deviation(self) -> float | None:
        """The sample's standard deviation; one value has none."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def n(self) -> int:
        """How many seeds."""
        return len(self.values)


def measured(values: Iterable[float | None]) -> Measured | None:
    """What the runs that have such a number have; None if there are none."""
    found = tuple(value for value in values if value is not None)
    return Measured(found) if found else None


@dataclass(frozen=True)
class Comparison:
    """One column of a row: what the paper has and what we have.

    Attributes:
        digits: how many the paper shows after the point.
        trivial: what outputs that take no model have there, by their name.
    """

    column: str
    paper: Published | None
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
        details: further numbers, without a grammar: what the paper does not have for every row.
        seconds: of all runs, for training and for evaluating on dev.
    """

    model: str
    split: str
    experiment: str
    seeds: tuple[int, ...]
    comparisons: tuple[Comparison, ...]
    details: Mapping[str, Measured | None]
    seconds: float


@dataclass(frozen=True)
class FarBeyond:
    """Mirror's exact match, in percent, on many strings of one length that is far beyond training."""

    length: int
    strings: int
    ours: Measured


@dataclass(frozen=True)
class ResultTable:
    """One dataset.

    Attributes:
        name: what commands call it.
        measure: what the numbers are.
        paper_seeds: how many the paper's means are over.
        far_beyond: on strings that no paper has; for mirror only.
    """

    name: str
    title: str
    measure: str
    paper_seeds: int
    rows: tuple[ResultRow, ...]
    far_beyond: tuple[FarBeyond, ...] = ()

    @property
    def runs(self) -> int:
        """How many count."""
        return sum(len(row.seeds) for row in self.rows)

    @property
    def hours(self) -> float:
        """What they took together."""
        return sum(row.seconds for row in self.rows) / 3600

    @property
    def not_run(self) -> list[ResultRow]:
        """Rows without a run."""
        return [row for row in self.rows if not row.seeds]

    @property
    def fewer_seeds(self) -> list[ResultRow]:
        """Rows with runs, but fewer of them than the paper has."""
        return [row for row in self.rows if 0 < len(row.seeds) < self.paper_seeds]


def tables(
    records_or_folder: Iterable[Record] | Path | str, names: Iterable[str] | None = None
) -> dict[str, ResultTable]:
    """The tables of some names, or all, from a folder of ledgers or what `read_ledgers` found there."""
    wanted = list(TABLES) if names is None else list(names)
    unknown = [name for name in wanted if name not in TABLES]
    if unknown:
        raise FtorError(f"expected a table of {', '.join(TABLES)}, found {', '.join(unknown)}")
    if isinstance(records_or_folder, Path | str):
        folder = Path(records_or_folder)
        if not folder.is_dir():
            raise FtorError(f"{folder}: expected a folder of ledgers, found none; --ledgers names another")
        records = read_ledgers(folder)
    else:
        records = list(records_or_folder)
    return {name: _table(name, TABLES[name], records) for name in wanted}


def passed_over(records: Iterable[Record]) -> Counter[str]:
    """Finished runs that count in no table: how many, by experiment, have another name or other settings."""
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
    far = _far_beyond(records) if name == "mirror" else ()
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
    """A run's number in a column, on the paper's scale."""
    if table == "mirror":
        if column in LENGTHS:
            return accuracy(run["test"]["by_length"], LENGTHS[column])
        return 100 * float(run[column]["exact_match"])
    if table == "style":
        return _score(run["test"], column)
    metrics = run.get("test_grammar" if column == WITH_GRAMMAR else "test")
    return None if metrics is None else 100 * float(metrics["shares"][ACCURACIES[table]])


def accuracy(by_length: Iterable[Record], lengths: range) -> float | None:
    """Exact match in percent over all examples of such lengths, if there are any."""
    groups = [group for group in by_length if group["length"] in lengths]
    right = sum(group["count"] * group["exact_match"] for group in groups)
    count = sum(group["count"] for group in groups)
    return float(100 * right / count) if count else None


def _score(metrics: Record | None, name: str) -> float | None:
    """A score as the paper scales it; METEOR is missing where there was no Java."""
    score = None if metrics is None else metrics["scores"].get(name)
    return None if score is None else float(score) * (1 if name == CIDER else 100)


def _trivial(paper: Row, records: Iterable[Record]) -> dict[str, Record | None]:
    """The metrics of outputs that take no model, on the row's test pairs."""
    file = Config.load(paper.experiment).data.test
    found = {r["experiment"]: r["metrics"] for r in records if r.get("file") == file and "metrics" in r}
    return {name: found.get(name) for name in TRIVIAL}


def _details(runs: Sequence[Record]) -> dict[str, Measured | None]:
    tests = [run["test"] for run in runs]
    well_formed = [test.get("shares", {}).get("well_formed") for test in tests]  # if there is a grammar
    return {
        "exact match": measured(100 * test["exact_match"] for test in tests),
        "as released": measured(map(_as_released, tests)),
        "as released, grammar": measured(_as_released(run.get("test_grammar", {})) for run in runs),
        "length error": measured(test["length_error"] for test in tests),
        "well-formed": measured(None if share is None else 100 * share for share in well_formed),
        "minutes": measured(seconds(run) / 60 for run in runs),
    }


def _as_released(metrics: Record) -> float | None:
    """Geoquery's execution accuracy as the released code computes it, with the blanks in names deleted."""
    share = metrics.get("shares", {}).get("execution_accuracy_released")
    return None if share is None else 100 * float(share)


def _far_beyond(records: Sequence[Record]) -> tuple[FarBeyond, ...]:
    groups = [
        group for metrics in evaluations(records, "mirror", LONG_FILE) for group in metrics["by_length"]
    ]
    found = []
    for length in sorted({group["length"] for group in groups}):
        same = [group for group in groups if group["length"] == length]
        ours = Measured(tuple(100 * group["exact_match"] for group in same))
        found.append(FarBeyond(length, same[0]["count"], ours))
    return tuple(found)
