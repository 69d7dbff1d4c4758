"""The numbers in the figures, from the ledgers and from the logs of runs."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ftor.config import Config, ConfigError
from ftor.errors import FtorError
from ftor.files import read_json_lines
from ftor.lab.appendix import APPENDIX, DEV
from ftor.lab.ledger import LONG_FILE, as_shipped, evaluations, finished_runs, shipped_hash
from ftor.lab.lines import Line, TimesLine
from ftor.lab.measured import Measured, Point, points
from ftor.lab.paper import ACCURACIES, LENGTHS, TABLES, WITH_GRAMMAR, WITHOUT, PaperNumber
from ftor.lab.tables import by_parameters
from ftor.reporting import Report

DEV_LENGTH = 10
"""Input length of mirror's dev pairs."""
DEV_PARAMETERS, TEST_PARAMETERS = 4, (5, 7)
"""Numbers of parameters in Okapi's document domain: of all dev pairs, and the range of the test pairs."""
CURVES = {"mirror": "exact_match", **ACCURACIES, "style": "BLEU-3"}
"""The dev metric of training curves, by table."""


class Span(NamedTuple):
    """A number of the paper for a range on the x-axis."""

    first: int
    last: int
    number: PaperNumber


class Series(NamedTuple):
    """The points of a model, and the paper's numbers for it."""

    model: str
    points: tuple[Point, ...]
    paper: tuple[Span, ...]


class Curve(NamedTuple):
    """The dev metric of each epoch in percent, by seed."""

    model: str
    split: str
    seeds: dict[int, tuple[float, ...]]


class Timing(NamedTuple):
    """Seconds per sentence by output length."""

    experiment: str
    lengths: tuple[int, ...]
    seconds: tuple[float, ...]


def accuracy_by_length(lines: Sequence[Line]) -> list[Series]:
    """Return exact match on mirror by input length, for each model."""
    series = []
    for row in TABLES["mirror"].rows:
        if row.split != "length":
            continue
        runs = finished_runs(lines, row.experiment)
        metrics = [metrics for run in runs for metrics in (run.dev, run.test) if metrics]
        metrics += evaluations(lines, row.experiment, LONG_FILE)
        ranges = {"dev": range(DEV_LENGTH, DEV_LENGTH + 1), **LENGTHS}
        paper = [Span(ranges[name][0], ranges[name][-1], number) for name, number in row.numbers.items()]
        ours = points(group for each in metrics for group in each.by_length)
        series.append(Series(row.model, ours, tuple(paper)))
    return series


def accuracy_by_parameters(lines: Sequence[Line]) -> dict[str, list[Series]]:
    """Return accuracy on Okapi's document domain by number of parameters, with and without a grammar."""
    by_decoding: dict[str, list[Series]] = {WITH_GRAMMAR: [], WITHOUT: []}
    for decoding, series in by_decoding.items():
        for row in TABLES["okapi"].rows:
            if row.split != "document" or decoding not in row.numbers:
                continue
            ours = by_parameters(lines, row.experiment)[decoding]
            paper = [Span(*TEST_PARAMETERS, row.numbers[decoding])]
            if decoding == WITHOUT:
                paper.insert(0, Span(DEV_PARAMETERS, DEV_PARAMETERS, APPENDIX[row.experiment][DEV]))
            series.append(Series(row.model, ours, tuple(paper)))
    return by_decoding


def time_by_length(lines: Iterable[Line], experiment: str = "mirror") -> list[Timing]:
    """Return the lines of benchmarks/output_length.py for an experiment with the shipped settings."""
    return [
        Timing(
            experiment,
            tuple(point.length for point in line.times),
            tuple(point.seconds for point in line.times),
        )
        for line in as_shipped(lines, experiment)
        if isinstance(line, TimesLine)
    ]


def training_curves(runs: Path, table: str, report: Report) -> list[Curve]:
    """Return the curves of the runs of a table with the shipped settings, from folders below `runs`."""
    rows = {row.experiment: row for row in TABLES[table].rows}
    curves: dict[str, dict[int, tuple[float, ...]]] = {}
    logs = sorted(runs.rglob("log.jsonl"), key=lambda log: (log.parent / "metrics.json").exists())
    for log in logs:  # finished runs come last, and replace others with the same seed
        try:
            config = Config.load(log.parent / "config.toml")
        except ConfigError as error:
            report.warn(f"{log.parent} is left out: {error}")
            continue
        if config.name in rows and config.hash == shipped_hash(config.name):
            curve = _curve(log, f"dev_{CURVES[table]}")
            if curve:
                curves.setdefault(config.name, {})[config.training.seed] = curve
    return [
        Curve(row.model, row.split, dict(sorted(curves[name].items())))
        for name, row in rows.items()
        if name in curves
    ]


def _curve(log: Path, metric: str) -> tuple[float, ...]:
    records = read_json_lines(log)
    for number, record in enumerate(records, 1):
        if not isinstance(record.get(metric), float | int):
            raise FtorError(f"{log}:{number}: not the record of an epoch with {metric}")
    return tuple(100 * float(record[metric]) for record in records)


def fingerprint(series: Any) -> str:
    """Return twelve digits that are the same for figures with the same numbers."""

    def rounded(value: Any) -> Any:
        if isinstance(value, Measured):
            return rounded(value.values)
        if isinstance(value, dict):
            return {str(key): rounded(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [rounded(inner) for inner in value]
        return round(value, 6) if isinstance(value, float) else value

    return hashlib.sha256(json.dumps(rounded(series), sort_keys=True).encode()).hexdigest()[:12]
