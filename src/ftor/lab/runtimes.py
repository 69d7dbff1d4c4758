"""The paper's table of runtimes, with ours beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ftor.lab.ledger import finished_runs
from ftor.lab.lines import Line, RunLine
from ftor.lab.measured import Measured, measured
from ftor.lab.paper import TABLES

NAME, TITLE = "runtime", "Runtime"


class PaperRuntime(NamedTuple):
    """A row of the paper's table.

    Attributes:
        experiments: those that it is about: all splits of a dataset, of which the paper gives the average.
        minutes: of one run. Of a range, its middle.
    """

    dataset: str
    model: str
    experiments: tuple[str, ...]
    epochs: int
    minutes: float


def _splits(dataset: str, *splits: str, model: str = "") -> tuple[str, ...]:
    return tuple(f"{dataset}-{split}{model}" for split in splits)


PAPER = (
    PaperRuntime("Mirror", "F→R", ("mirror",), 7, 8),
    PaperRuntime("Mirror", "R→F", ("mirror-rf",), 20, 8),
    PaperRuntime("Mirror", "AR F→R", ("mirror-ar",), 20, 30),
    PaperRuntime("Mirror", "AR R→F", ("mirror-ar-rf",), 20, 20),
    PaperRuntime("Mirror", "Transformer", ("mirror-transformer",), 200, 15),
    PaperRuntime("Mirror", "LSTM", ("mirror-lstm",), 60, 4),
    PaperRuntime("Geoquery", "F→R", _splits("geo", "iid", "template", "length"), 100, 20),
    PaperRuntime("ATIS", "F→R", _splits("atis", "iid", "length"), 100, 690),
    PaperRuntime("ATIS", "Transformer", _splits("atis", "iid", "length", model="-transformer"), 20, 10),
    PaperRuntime("ATIS", "LSTM", _splits("atis", "iid", "length", model="-lstm"), 20, 10),
    PaperRuntime("ATIS", "BART-base", _splits("atis", "iid", "length", model="-bart"), 50, 78),
    PaperRuntime("Okapi calendar", "F→R", ("okapi-calendar",), 70, 60),
    PaperRuntime("Okapi calendar", "BART-base", ("okapi-calendar-bart",), 40, 15),
    PaperRuntime("Okapi document", "F→R", ("okapi-document",), 70, 90),
    PaperRuntime("Okapi document", "BART-base", ("okapi-document-bart",), 60, 30),
    PaperRuntime("Okapi email", "F→R", ("okapi-email",), 70, 90),
    PaperRuntime("Okapi email", "BART-base", ("okapi-email-bart",), 40, 30),
    PaperRuntime("Active to passive", "F→R", ("style-passive",), 60, 60),
    PaperRuntime("Adjective emphasis", "F→R", ("style-adjective",), 60, 20),
    PaperRuntime("Verb emphasis", "F→R", ("style-verb",), 60, 30),
)
"""The rows of the paper's table, in its order. Those of mirror are taken to be of its length split."""


@dataclass(frozen=True)
class Runtime:
    """Epochs and minutes of our runs: each has a value per run."""

    epochs: Measured
    minutes: Measured


@dataclass(frozen=True)
class RuntimeRow:
    """A row of the paper's table, and our runs.

    Attributes:
        shipped: of the runs with the settings that we ship. None without runs.
        released: of the runs with the paper's settings. None without runs.
        one_setting: whether the paper's settings are those that we ship.
    """

    paper: PaperRuntime
    shipped: Runtime | None
    released: Runtime | None
    one_setting: bool


@dataclass(frozen=True)
class RuntimeTable:
    """All rows."""

    rows: tuple[RuntimeRow, ...]
    name: str = NAME
    title: str = TITLE


def runtime_table(lines: Sequence[Line]) -> RuntimeTable:
    """Return the paper's runtimes beside those of the runs that count."""
    released = {row.experiment: row.released for table in TABLES.values() for row in table.rows}
    rows = []
    for paper in PAPER:
        others = tuple(released[name] for name in paper.experiments)
        one_setting = others == paper.experiments
        shipped = _runtime(lines, paper.experiments)
        rows.append(RuntimeRow(paper, shipped, None if one_setting else _runtime(lines, others), one_setting))
    return RuntimeTable(tuple(rows))


def _runtime(lines: Sequence[Line], experiments: Sequence[str]) -> Runtime | None:
    runs: list[RunLine] = [run for name in experiments for run in finished_runs(lines, name)]
    epochs = measured(run.epochs for run in runs)
    minutes = measured(run.all_seconds / 60 for run in runs)
    return None if epochs is None or minutes is None else Runtime(epochs, minutes)
