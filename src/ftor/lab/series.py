"""The numbers behind the figures: from the ledgers, and from the logs of run folders."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ftor.config import Config, ConfigError
from ftor.errors import FtorError
from ftor.files import read_json_lines
from ftor.lab.ledger import (
    LONG_FILE,
    TIME_BY_LENGTH,
    Record,
    as_shipped,
    evaluations,
    finished_runs,
    shipped_hash,
)
from ftor.lab.paper import LENGTHS, OKAPI_DOCUMENT_DEV, TABLES, WITH_GRAMMAR, WITHOUT, Published
from ftor.lab.tables import ACCURACIES, Measured
from ftor.reporting import Report

DEV_LENGTH = 10
"""Of mirror's dev strings."""
DEV_PARAMETERS, TEST_PARAMETERS = 4, (5, 7)
"""Of Okapi's document domain; of the test pairs, the least and the most."""
CURVES = {"mirror": "exact_match", **ACCURACIES, "style": "BLEU-3"}
"""By table: the dev metric of training curves."""


class Point(NamedTuple):
    """A place on the x-axis, what the runs have there in percent, and how many examples that is over."""

    x: int
    ours: Measured
    examples: int


class Span(NamedTuple):
    """The paper's number, over all examples from one place on the x-axis to another."""

    first: int
    last: int
    number: Published


class Series(NamedTuple):
    """A model's line, and what the paper has for it."""

    model: str
    points: tuple[Point, ...]
    paper: tuple[Span, ...]


class Curve(NamedTuple):
    """A model's training on a split: for each seed, the dev metric of every epoch, in percent."""

    model: str
    split: str
    seeds: dict[int, tuple[float, ...]]


class Timing(NamedTuple):
    """Seconds per sentence by output length."""

    experiment: str
    lengths: tuple[int, ...]
    seconds: tuple[float, ...]


def accuracy_by_length(records: Sequence[Record]) -> list[Series]:
    """Exact match of every model on mirror by input length: dev, test and far beyond."""
    found = []
    for row in TABLES["mirror"].rows:
        if row.split != "length":
            continue
        runs = finished_runs(records, row.experiment)
        metrics = [run[split] for run in runs for split in ("dev", "test")]
        metrics += evaluations(records, row.experiment, LONG_FILE)
        groups = [group for found in metrics for group in found["by_length"]]
        ranges = {"dev": range(DEV_LENGTH, DEV_LENGTH + 1), **LENGTHS}
        paper = [Span(ranges[name][0], ranges[name][-1], number) for name, number in row.numbers.items()]
        found.append(Series(row.model, _points(groups, "length", "exact_match"), tuple(paper)))
    return found


def accuracy_by_parameters(records: Sequence[Record]) -> dict[str, list[Series]]:
    """Accuracy on Okapi's document domain by number of parameters, with a grammar and without, by model."""
    found: dict[str, list[Series]] = {WITH_GRAMMAR: [], WITHOUT: []}
    for decoding, series in found.items():
        suffix = "_grammar" if decoding == WITH_GRAMMAR else ""
        for row in TABLES["okapi"].rows:
            if row.split != "document" or decoding not in row.numbers:
                continue
            runs = finished_runs(records, row.experiment)
            metrics = [run.get(f"{split}{suffix}") for run in runs for split in ("dev", "test")]
            groups = [group for found in metrics if found for group in found["by_group"]]
            paper = [Span(*TEST_PARAMETERS, row.numbers[decoding])]
            if decoding == WITHOUT:
                paper.insert(0, Span(DEV_PARAMETERS, DEV_PARAMETERS, OKAPI_DOCUMENT_DEV[row.model]))
            series.append(Series(row.model, _points(groups, "value", "share"), tuple(paper)))
    return found


def _points(groups: Sequence[Record], by: str, share: str) -> tuple[Point, ...]:
    points = []
    for x in sorted({group[by] for group in groups}):
        same = [group for group in groups if group[by] == x]
        points.append(Point(x, Measured(tuple(100 * group[share] for group in same)), same[0]["count"]))
    return tuple(points)


def time_by_length(records: Iterable[Record], experiment: str = "mirror") -> list[Timing]:
    """What benchmarks/output_length.py has recorded for an experiment as it is shipped."""
    return [
        Timing(
            experiment,
            tuple(point["length"] for point in record["times"]),
            tuple(point["seconds"] for point in record["times"]),
        )
        for record in as_shipped(records, experiment)
        if record.get("kind") == TIME_BY_LENGTH
    ]


def training_curves(runs: Path, table: str, report: Report) -> list[Curve]:
    """The curves of the run folders that belong to a table and have nothing changed but the seed."""
    rows = {row.experiment: row for row in TABLES[table].rows}
    found: dict[str, dict[int, tuple[float, ...]]] = {}
    logs = sorted(runs.rglob("log.jsonl"), key=lambda log: (log.parent / "metrics.json").exists())
    for log in logs:  # of two runs of the same, a finished one
        try:
            config = Config.load(log.parent / "config.toml")
        except ConfigError as error:
            report.warn(f"{log.parent} is left out: {error}")
            continue
        if config.name in rows and config.hash == shipped_hash(config.name):
            curve = _curve(log, f"dev_{CURVES[table]}")
            if curve:
                found.setdefault(config.name, {})[config.training.seed] = curve
    return [
        Curve(row.model, row.split, dict(sorted(found[name].items())))
        for name, row in rows.items()
        if name in found
    ]


def _curve(log: Path, metric: str) -> tuple[float, ...]:
    records = read_json_lines(log)
    for number, record in enumerate(records, 1):
        if not isinstance(record.get(metric), float | int):
            raise FtorError(f"{log}:{number}: not the record of an epoch with {metric}")
    return tuple(100 * float(record[metric]) for record in records)


def fingerprint(series: Any) -> str:
    """Twelve digits that two figures share if they show the same numbers."""

    def rounded(value: Any) -> Any:
        if isinstance(value, Measured):
            return rounded(value.values)
        if isinstance(value, dict):
            return {str(key): rounded(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [rounded(inner) for inner in value]
        return round(value, 6) if isinstance(value, float) else value

    return hashlib.sha256(json.dumps(rounded(series), sort_keys=True).encode()).hexdigest()[:12]
