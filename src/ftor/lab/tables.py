"""Tables of results: the paper's numbers, ours, and their differences. `ftor.show.results` formats them.

Ours are those of runs with the paper's settings, of runs with the settings that we ship, and of runs with
what the paper does not have.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ftor.config import Config
from ftor.errors import FtorError
from ftor.lab import appendix, public, runtimes
from ftor.lab.aims import AIMS, Aim
from ftor.lab.intervals import interval
from ftor.lab.ledger import LONG_FILE, evaluations, finished_runs, read_ledgers, shipped_hash
from ftor.lab.lines import EvaluationLine, Line, RunLine
from ftor.lab.measured import Comparison, Measured, Point, measured, points
from ftor.lab.paper import (
    ACCURACIES,
    LENGTHS,
    STYLE_SCORES,
    TABLES,
    WITH_GRAMMAR,
    WITHOUT,
    Row,
    Table,
    scaled_score,
)
from ftor.lab.public import PublicTable
from ftor.lab.runtimes import RuntimeTable
from ftor.lab.trivial import TRIVIAL
from ftor.metrics import CIDER, EXACT_MATCH, WELL_FORMED, LengthGroup, Metrics
from ftor.metrics.significance import Estimate
from ftor.reporting import SILENT, Report

FURTHER = (runtimes.NAME, public.NAME)
"""The tables that do not compare accuracies with the paper's: runtimes, and other datasets."""
MEASURES = {
    "mirror": "exact match, percent",
    "geo": "execution accuracy, percent",
    "atis": "accuracy up to the order of conjuncts, percent",
    "okapi": "accuracy of the set of clauses, percent",
    "style": "scores times 100, but CIDEr up to 10",
}

TRAINED, READ = "millions trained", "millions read"
"""Details that are numbers of parameters: those that are trained, and those of a pretrained reader."""


@dataclass(frozen=True)
class Runs:
    """The runs of one experiment that count.

    Attributes:
        details: further numbers, without a grammar.
        seconds: time of all runs for training and for evaluation on dev.
    """

    experiment: str
    seeds: tuple[int, ...]
    details: Mapping[str, Measured | None]
    seconds: float


@dataclass(frozen=True)
class ResultRow:
    """A model on a split.

    Attributes:
        shipped: the runs with the settings that we ship.
        released: the runs with the paper's settings. None if these are the ones that we ship.
        beyond: the runs with what the paper does not have. None if there is no such experiment.
        comparisons: the columns of the paper's tables.
        appendix: the columns of the tables in its appendix.
        missing: why there are no runs, if they need what cannot be had.
        aim: what the runs beyond the paper are to reach.
    """

    model: str
    split: str
    shipped: Runs
    released: Runs | None
    beyond: Runs | None
    comparisons: tuple[Comparison, ...]
    appendix: tuple[Comparison, ...]
    missing: str
    aim: Aim | None = None

    @property
    def all_runs(self) -> list[Runs]:
        """The runs with the paper's settings, if these are others, with ours, and beyond the paper."""
        return [runs for runs in (self.released, self.shipped, self.beyond) if runs is not None]


@dataclass(frozen=True)
class ResultTable:
    """One dataset.

    Attributes:
        name: as in commands.
        measure: what the numbers are.
        paper_seeds: number of seeds in the paper.
        far_beyond: exact match on inputs much longer than in training, by length. Only mirror has them.
        by_parameters: accuracy of F→R on the document domain with and without the grammar, by the number of
            parameters. Only Okapi has them.
    """

    name: str
    title: str
    measure: str
    paper_seeds: int
    rows: tuple[ResultRow, ...]
    far_beyond: tuple[Point, ...] = ()
    by_parameters: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Number of runs that count."""
        return sum(len(runs.seeds) for row in self.rows for runs in row.all_runs)

    @property
    def has_beyond(self) -> bool:
        """Whether there are runs with what the paper does not have."""
        return any(row.beyond is not None and row.beyond.seeds for row in self.rows)

    @property
    def hours(self) -> float:
        """Time of all runs together."""
        return sum(runs.seconds for row in self.rows for runs in row.all_runs) / 3600

    @property
    def not_run(self) -> list[ResultRow]:
        """Rows without a run of the shipped experiment."""
        return [row for row in self.rows if not row.shipped.seeds]

    @property
    def not_run_released(self) -> list[ResultRow]:
        """Rows without a run with the paper's settings, if these are others."""
        return [row for row in self.rows if row.released is not None and not row.released.seeds]

    @property
    def fewer_seeds(self) -> list[ResultRow]:
        """Rows with fewer runs of the shipped experiment than in the paper, but not without runs."""
        return [row for row in self.rows if 0 < len(row.shipped.seeds) < self.paper_seeds]

    @property
    def fewer_seeds_released(self) -> list[ResultRow]:
        """The same for the runs with the paper's settings, if these are others."""
        return [row for row in self.rows if row.released and 0 < len(row.released.seeds) < self.paper_seeds]


def further_tables(lines: Sequence[Line], names: Iterable[str]) -> dict[str, RuntimeTable | PublicTable]:
    """Return those of the tables in `FURTHER` that are named."""
    made: dict[str, Callable[[Sequence[Line]], RuntimeTable | PublicTable]] = {
        runtimes.NAME: runtimes.runtime_table,
        public.NAME: public.public_table,
    }
    return {name: made[name](lines) for name in FURTHER if name in names}


def tables(
    lines_or_folder: Iterable[Line] | Path | str, names: Iterable[str] | None = None, report: Report = SILENT
) -> dict[str, ResultTable]:
    """Return tables from a folder of ledgers or from their lines.

    Args:
        lines_or_folder: the lines of ledgers, or the folder where they are.
        names: those of the tables. Default: all.
        report: receives which lines are damaged.
    """
    names = list(TABLES) if names is None else list(names)
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        raise FtorError(f"{', '.join(unknown)}: no such table; the tables are {', '.join(TABLES)}")
    if isinstance(lines_or_folder, Path | str):
        folder = Path(lines_or_folder)
        if not folder.is_dir():
            raise FtorError(f"{folder}: no such folder; --ledgers names the folder of the ledgers")
        lines = read_ledgers(folder, report)
    else:
        lines = list(lines_or_folder)
    return {name: _table(name, TABLES[name], lines) for name in names}


def passed_over(lines: Iterable[Line]) -> Counter[str]:
    """Return the number of finished runs that no table counts, by experiment."""
    names = {name for table in TABLES.values() for row in table.rows for name in row.experiments}
    counted = {(name, shipped_hash(name)) for name in names}
    return Counter(
        line.experiment
        for line in lines
        if isinstance(line, RunLine) and line.test and (line.experiment, line.config) not in counted
    )


def _table(name: str, paper: Table, lines: Sequence[Line]) -> ResultTable:
    rows = tuple(_row(name, paper, row, lines) for row in paper.rows)
    long = evaluations(lines, "mirror", LONG_FILE) if name == "mirror" else []
    far = points(group for metrics in long for group in metrics.by_length)
    parameters = by_parameters(lines, "okapi-document") if name == "okapi" else {}
    return ResultTable(name, paper.title, MEASURES[name], paper.seeds, rows, far, parameters)


def by_parameters(lines: Sequence[Line], experiment: str) -> dict[str, tuple[Point, ...]]:
    """Return accuracy on dev and test by the number of parameters, with and without a grammar."""
    runs, found = finished_runs(lines, experiment), {}
    for decoding, suffix in ((WITH_GRAMMAR, "_grammar"), (WITHOUT, "")):
        metrics = [run.metrics(f"{split}{suffix}") for run in runs for split in ("dev", "test")]
        found[decoding] = points(group for each in metrics if each for group in each.by_group)
    return found


def _row(table: str, of: Table, paper: Row, lines: Sequence[Line]) -> ResultRow:
    shipped = finished_runs(lines, paper.experiment)
    released = finished_runs(lines, paper.released) if paper.released != paper.experiment else None
    beyond = finished_runs(lines, paper.beyond) if paper.beyond is not None else None
    trivial = _trivial(paper, lines) if table == "style" else {}
    comparisons = []
    for column in _columns(table, paper):
        ours = _measured(table, column, shipped)
        theirs = ours if released is None else _measured(table, column, released)
        further = _measured(table, column, beyond or [])
        copies = {name: scaled_score(metrics, column) for name, metrics in trivial.items()}
        digits = _digits(table, column)
        number = paper.numbers.get(column)
        if column != WITH_GRAMMAR or number is not None or ours is not None:
            one = Comparison(column, number, theirs, ours, digits, of.seeds, copies, beyond=further)
            comparisons.append(one)
    return ResultRow(
        *(paper.model, paper.split),
        shipped=_runs(paper.experiment, shipped),
        released=None if released is None else _runs(paper.released, released),
        beyond=None if beyond is None or paper.beyond is None else _runs(paper.beyond, beyond),
        comparisons=tuple(comparisons),
        appendix=tuple(_appendix(table, of, paper, released, shipped, beyond or [])),
        missing=paper.missing,
        aim=AIMS.get(paper.experiment),
    )


def _appendix(
    table: str,
    of: Table,
    paper: Row,
    released: Sequence[RunLine] | None,
    shipped: Sequence[RunLine],
    beyond: Sequence[RunLine],
) -> Iterator[Comparison]:
    for column, number in appendix.APPENDIX.get(paper.experiment, {}).items():
        ours, theirs, further = (
            measured(appendix.number(table, column, run) for run in runs)
            for runs in (shipped, shipped if released is None else released, beyond)
        )
        digits = 2 if column == appendix.LENGTH_ERROR else _digits(table, column)
        yield Comparison(column, number, theirs, ours, digits, of.seeds, {}, beyond=further)


def _digits(table: str, column: str) -> int:
    """How many decimals the paper has."""
    return 3 if column.endswith(CIDER) else 2 if table == "atis" else 1


def _runs(experiment: str, runs: Sequence[RunLine]) -> Runs:
    seeds, seconds = tuple(run.seed for run in runs), sum(run.all_seconds for run in runs)
    return Runs(experiment, seeds, _details(runs), seconds)


def _measured(table: str, column: str, runs: Sequence[RunLine]) -> Measured | None:
    return measured((_number(table, column, run) for run in runs), _interval(table, column, runs))


def _interval(table: str, column: str, runs: Sequence[RunLine]) -> Estimate | None:
    if table == "style":  # its scores are no shares of right outputs
        return None
    split = {WITH_GRAMMAR: "test_grammar", "dev": "dev"}.get(column, "test")
    return interval(runs, split, ACCURACIES.get(table, EXACT_MATCH), LENGTHS.get(column))


def _columns(table: str, paper: Row) -> Sequence[str]:
    if table == "mirror":
        return ("dev", *LENGTHS) if paper.split == "length" else ("test",)
    return STYLE_SCORES if table == "style" else (WITH_GRAMMAR, WITHOUT)


def _number(table: str, column: str, run: RunLine) -> float | None:
    """Return a run's number in a column, scaled as in the paper."""
    if table == "mirror" and column in LENGTHS:
        return accuracy(run.test.by_length, LENGTHS[column]) if run.test else None
    split = {WITH_GRAMMAR: "test_grammar", "dev": "dev"}.get(column, "test")
    metrics = run.metrics(split)
    if metrics is None or table == "style":
        return scaled_score(metrics, column)
    return 100 * (metrics.exact_match if table == "mirror" else metrics.shares[ACCURACIES[table]])


def accuracy(by_length: Iterable[LengthGroup], lengths: range) -> float | None:
    """Return exact match in percent over all examples of some lengths. None without examples."""
    groups = [group for group in by_length if group.length in lengths]
    right = sum(group.count * group.exact_match for group in groups)
    count = sum(group.count for group in groups)
    return float(100 * right / count) if count else None


def _trivial(paper: Row, lines: Iterable[Line]) -> dict[str, Metrics | None]:
    """Return the metrics of trivial outputs on the test pairs of a row."""
    file = Config.load(paper.experiment).data.test
    of_file = [line for line in lines if isinstance(line, EvaluationLine) and line.file == file]
    metrics = {line.experiment: line.metrics for line in of_file}
    return {name: metrics.get(name) for name in TRIVIAL}


def _details(runs: Sequence[RunLine]) -> dict[str, Measured | None]:
    tests = [run.test for run in runs if run.test]
    constrained = [run.test_grammar for run in runs if run.test_grammar]
    return {
        "exact match": measured(100 * test.exact_match for test in tests),
        "as released": measured(_share(test, "execution_accuracy_released") for test in tests),
        "as released, grammar": measured(_share(t, "execution_accuracy_released") for t in constrained),
        "length error": measured(test.length_error for test in tests),
        "well-formed": measured(_share(test, WELL_FORMED) for test in tests),
        "minutes": measured(run.all_seconds / 60 for run in runs),
        TRAINED: measured(_millions(run.parameters) for run in runs),
        READ: measured(_millions(run.reader.parameters) for run in runs if run.reader),
    }


def _millions(parameters: int | None) -> float | None:
    return None if parameters is None else parameters / 1e6


def _share(metrics: Metrics, name: str) -> float | None:
    """Return a share in percent. Without a grammar nothing is well-formed.

    As released is Geoquery's execution accuracy without the spaces in names.
    """
    share = metrics.shares.get(name)
    return None if share is None else 100 * share
