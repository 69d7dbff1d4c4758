"""Outputs that take no model, to be reported beside those that do."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ftor.datasets import grouping, judges, scorers
from ftor.reporting import Report
from ftor.text.reading import Pair

if TYPE_CHECKING:
    from ftor.metrics import Metrics

TRIVIAL: dict[str, Callable[[Pair], Sequence[str]]] = {
    "copy the input": lambda pair: pair.source,
    "copy all but the last word": lambda pair: pair.source[:-1],
}


def judged(
    task: str, pairs: Sequence[Pair], data_folder: Path | None = None, report: Report | None = None
) -> "dict[str, Metrics]":
    """How good each of them is on a task's pairs, by its name."""
    from ftor.metrics import evaluate

    golds, lengths = [pair.target for pair in pairs], [len(pair.source) for pair in pairs]
    how = judges(task, data_folder), grouping(task), scorers(task, report)
    return {
        name: evaluate(golds, [output(pair) for pair in pairs], lengths, *how)
        for name, output in TRIVIAL.items()
    }
