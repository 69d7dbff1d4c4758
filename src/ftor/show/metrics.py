"""Tables of metrics for the terminal."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich import console
from rich.table import Table

from ftor.metrics import Key, Metrics, format_score, measure_name, split_name, was_trained_on
from ftor.reporting import percent


def summary(metrics: Metrics) -> Table:
    """Return a table of what holds for all examples together."""
    table = Table("metric", "value")
    table.columns[1].justify = "right"
    table.add_row("examples", str(metrics.count))
    for name, share in metrics.shares.items():
        table.add_row(measure_name(name), percent(share))
    for name, score in metrics.scores.items():
        table.add_row(name, format_score(name, score))
    table.add_row("exact match", percent(metrics.exact_match))
    table.add_row("right length", percent(metrics.length_match))
    table.add_row("mean length error", f"{metrics.length_error:.2f}")
    table.add_row("mean edit distance", f"{metrics.edit_distance:.2f}")
    table.add_row("edits per gold token", f"{metrics.per:.4f}")
    return table


def tables(metrics: Metrics) -> console.Group:
    """Return a summary, exact match by length, and a table of each kind of groups if there are any."""
    lengths = [(group.length, group.count, group.exact_match) for group in metrics.by_length]
    parts = [summary(metrics), _table(["length", "examples", "exact match"], lengths)]
    judged = [next(iter(metrics.shares)).replace("_", " ")] if metrics.shares else []
    for name, group in groupby(metrics.by_group, key=lambda group: group.name):
        groups = [(g.value, g.count, g.exact_match, *([g.share] if judged else [])) for g in group]
        parts.append(_table([name, "examples", "exact match", *judged], groups))
    return console.Group(*parts)


def run_tables(metrics: Mapping[str, Any]) -> console.Group:
    """Return the tables of a run's metrics on its test pairs, or on its dev pairs if it has no others."""
    split = "test" if metrics["test"] else "dev"
    has_grammar = f"{split}_grammar" in metrics
    name = split_name(split, metrics) if was_trained_on(split, metrics) else f"{split} pairs"
    parts: list[console.RenderableType] = [
        f"{name}{' without the grammar' * has_grammar}, exact match by source length:",
        tables(Metrics.from_dict(metrics[split])),
    ]
    if has_grammar:
        parts += [f"{name} with the grammar:", summary(Metrics.from_dict(metrics[f"{split}_grammar"]))]
    return console.Group(*parts)


def _table(header: Sequence[str], rows: Sequence[tuple[Key | float | None, ...]]) -> Table:
    """Return a table of rows of a value, a count, and shares."""
    table = Table(*header)
    for column in table.columns:
        column.justify = "right"
    for value, count, *shares in rows:
        known = (float(share) for share in shares if share is not None)
        table.add_row(str(value), str(count), *map(percent, known))
    return table
