"""The table of public datasets that the paper does not use, as cells of text."""

from typing import Any

from ftor.lab.measured import Measured
from ftor.lab.public import PublicRow, PublicTable
from ftor.show.results.layout import NONE, NOT_RUN, Grid, with_deviation


def grids(table: PublicTable) -> list[Grid]:
    """Return the accuracy of each split, and that of each kind of example."""
    header: tuple[str, ...] = (
        "dataset",
        "split",
        "measure",
        "percent",
        "worst seed",
        "95 % interval",
        "seeds",
        "minutes",
    )
    lines = [line for row in table.rows for line in _lines(row)]
    parts = [Grid(f"{table.title}: right outputs on test, as shipped", header, lines, keys=3)]
    kinds = [cells for row in table.rows for cells in _kinds(row)]
    if kinds:
        header = ("dataset", "split", "by", "kind", "examples", "exact match")
        parts.append(Grid(f"{table.title}: exact match in percent by kind", header, kinds, keys=4))
    return parts


def notes(table: PublicTable) -> list[str]:
    """Return what has not been run."""
    missing = [f"{row.dataset} ({row.split})" for row in table.rows if not row.seeds]
    return [f"Not run: {', '.join(missing)}."] if missing else []


def values(table: PublicTable) -> dict[str, Any]:
    """Return all numbers, for JSON."""
    return {
        "title": table.title,
        "rows": [
            {
                "experiment": row.experiment,
                "seeds": row.seeds,
                "measures": {name: _values(share) for name, share in row.measures.items()},
                "length_error": None if row.length_error is None else row.length_error.values,
                "minutes": None if row.minutes is None else row.minutes.values,
                "kinds": [
                    {
                        "name": kind.name,
                        "value": kind.value,
                        "examples": kind.examples,
                        "values": kind.right.values,
                    }
                    for kind in row.kinds
                ],
            }
            for row in table.rows
        ],
    }


def _values(share: Measured) -> dict[str, Any]:
    interval = None if share.interval is None else [share.interval.low, share.interval.high]
    return {"values": share.values, "interval": interval}


def _lines(row: PublicRow) -> list[tuple[str, ...]]:
    if not row.measures or row.minutes is None:
        return [(row.dataset, row.split, "exact match", NOT_RUN, NONE, NONE, "0", NONE)]
    seeds, minutes = str(len(row.seeds)), with_deviation(row.minutes, 1)
    return [
        (row.dataset, row.split, name.replace("_", " "), *_cells(share), seeds, minutes)
        for name, share in row.measures.items()
    ]


def _kinds(row: PublicRow) -> list[tuple[str, ...]]:
    return [
        (row.dataset, row.split, name, str(value), str(examples), with_deviation(right, 1))
        for name, value, examples, right in row.kinds
    ]


def _cells(share: Measured) -> tuple[str, str, str]:
    bounds = share.interval
    interval = NONE if bounds is None else f"{bounds.low:.1f} – {bounds.high:.1f}"
    return with_deviation(share, 1), f"{share.worst:.1f}", interval
