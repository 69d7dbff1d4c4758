"""Outputs that need no model. Tables show their scores beside those of models."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ftor.datasets import groupings, judges, scorers
from ftor.metrics import Metrics, evaluate, group_keys
from ftor.reporting import Report
from ftor.text.reading import Pair

TRIVIAL: dict[str, Callable[[Pair], Sequence[str]]] = {
    "copy the input": lambda pair: pair.source,
    "copy all but the last word": lambda pair: pair.source[:-1],
}


def evaluate_trivial(
    task: str, pairs: Sequence[Pair], data_folder: Path | None = None, report: Report | None = None
) -> dict[str, Metrics]:
    """Return the metrics of each trivial output on the pairs of a task, by its name."""
    sources, golds = [pair.source for pair in pairs], [pair.target for pair in pairs]
    lengths, groups = [len(source) for source in sources], group_keys(groupings(task), sources, golds)
    measures = judges(task, data_folder), groups, scorers(task, report)
    return {
        name: evaluate(golds, [output(pair) for pair in pairs], lengths, *measures)
        for name, output in TRIVIAL.items()
    }
