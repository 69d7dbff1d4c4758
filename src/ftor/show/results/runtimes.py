"""The table of runtimes as cells of text."""

from typing import Any

from ftor.lab.measured import Measured
from ftor.lab.runtimes import Runtime, RuntimeRow, RuntimeTable
from ftor.show.results.layout import NOT_RUN, RELEASED, SAME, SHIPPED, Grid

HOURS = 120
"""Times of at least so many minutes are given in hours."""


def grids(table: RuntimeTable) -> list[Grid]:
    """Return the paper's columns, and the same columns for our runs."""
    ours = (f"epochs, {RELEASED}", "runtime", f"epochs, {SHIPPED}", "runtime")
    header = ("dataset", "model", "epochs, paper", "runtime", *ours)
    return [Grid("Epochs, and the time of one run", header, [_line(row) for row in table.rows], keys=2)]


def notes(table: RuntimeTable) -> list[str]:
    """Return what the times are of."""
    return [
        "The paper's times are of a GPU (GeForce GTX 1080 Ti or 2080 Ti) and include the test. Ours are of "
        "one core of a CPU, mostly a busy one, and cover training and the evaluation on dev.",
        "As in the paper, times on Geoquery and ATIS are the mean over all splits.",
    ]


def values(table: RuntimeTable) -> dict[str, Any]:
    """Return all numbers, for JSON."""
    return {
        "title": table.title,
        "rows": [
            {
                **row.paper._asdict(),
                "one_setting": row.one_setting,
                "released": _values(row.released),
                "shipped": _values(row.shipped),
            }
            for row in table.rows
        ],
    }


def _values(runs: Runtime | None) -> dict[str, Any] | None:
    return None if runs is None else {"epochs": runs.epochs.values, "minutes": runs.minutes.values}


def _line(row: RuntimeRow) -> tuple[str, ...]:
    paper = row.paper
    released = (SAME, SAME) if row.one_setting else _cells(row.released)
    return (
        paper.dataset,
        paper.model,
        str(paper.epochs),
        _time(paper.minutes),
        *released,
        *_cells(row.shipped),
    )


def _cells(runs: Runtime | None) -> tuple[str, str]:
    return (NOT_RUN, NOT_RUN) if runs is None else (_range(runs.epochs), _time(runs.minutes.mean))


def _range(epochs: Measured) -> str:
    least, most = min(epochs.values), max(epochs.values)
    return f"{least:.0f}" if least == most else f"{least:.0f}–{most:.0f}"


def _time(minutes: float) -> str:
    if minutes >= HOURS:
        return f"{minutes / 60:.1f} h"
    return f"{minutes:.1f} min" if minutes < 10 else f"{minutes:.0f} min"
