"""Outputs that take no model, to be reported beside those that do."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ftor.data.reading import Pair
from ftor.progress import Report
from ftor.tasks import grouping, judges, scorers

if TYPE_CHECKING:
    from ftor.tasks.metrics import Metrics

TRIVIAL: dict[str, Callable[[Pair], Sequence[str]]] = {
    "copy the input": lambda pair: pair.source,
    "copy all but the last word": lambda pair: pair.source[:-1],
}


def judged(
    task: str, pairs: Sequence[Pair], data_folder: Path | None = None, report: Report | None = None
) -> "dict[str, Metrics]":
    """How good each of them is on a task's pairs, by its name."""
    from ftor.tasks.metrics import evaluate  # whose kernels take long to import

    golds, lengths = [pair.target for pair in pairs], [len(pair.source) for pair in pairs]
    how = judges(task, data_folder), grouping(task), scorers(task, report)
    return {
        name: evaluate(golds, [output(pair) for pair in pairs], lengths, *how)
        for name, output in TRIVIAL.items()
    }
