"""Public datasets that the paper does not use: our runs alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ftor.lab.intervals import interval
from ftor.lab.ledger import finished_runs
from ftor.lab.lines import Line, RunLine
from ftor.lab.measured import Measured, measured
from ftor.metrics import EXACT_MATCH, Key

NAME, TITLE = "public", "Public datasets besides the paper's"
EXPERIMENTS = (
    ("SCAN", "length", "scan-length"),
    ("SCAN", "around right", "scan-around-right"),
    ("SCAN", "jump", "scan-jump"),
    ("COGS", "generalization", "cogs"),
)
"""Dataset, split and experiment of each row."""


class Kind(NamedTuple):
    """The test examples of one kind, such as those with `around`, and exact match on them in percent."""

    name: str
    value: Key
    examples: int
    right: Measured


@dataclass(frozen=True)
class PublicRow:
    """An experiment.

    Attributes:
        measures: the shares of right outputs by name, exact match first, in percent.
        kinds: exact match by what the task groups examples by.
    """

    dataset: str
    split: str
    experiment: str
    seeds: tuple[int, ...]
    measures: dict[str, Measured]
    length_error: Measured | None
    minutes: Measured | None
    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class PublicTable:
    """All rows."""

    rows: tuple[PublicRow, ...]
    name: str = NAME
    title: str = TITLE


def public_table(lines: Sequence[Line]) -> PublicTable:
    """Return the runs on public datasets that count."""
    return PublicTable(tuple(_row(*each, finished_runs(lines, each[-1])) for each in EXPERIMENTS))


def _row(dataset: str, split: str, experiment: str, runs: Sequence[RunLine]) -> PublicRow:
    tests = [run.test for run in runs if run.test]
    by_run = [{EXACT_MATCH: test.exact_match, **test.shares} for test in tests]
    shares = {}
    for name in dict.fromkeys(name for run in by_run for name in run):
        values = (100 * run[name] for run in by_run if name in run)
        shares[name] = measured(values, interval(runs, "test", name))
    return PublicRow(
        *(dataset, split, experiment),
        seeds=tuple(run.seed for run in runs),
        measures={name: share for name, share in shares.items() if share is not None},
        length_error=measured(test.length_error for test in tests),
        minutes=measured(run.all_seconds / 60 for run in runs),
        kinds=_kinds(runs),
    )


def _kinds(runs: Sequence[RunLine]) -> tuple[Kind, ...]:
    found: dict[tuple[str, Key], list[tuple[int, float]]] = {}
    for group in (group for run in runs if run.test for group in run.test.by_group):
        found.setdefault((group.name, group.value), []).append((group.count, 100 * group.exact_match))
    return tuple(
        Kind(*kind, same[0][0], Measured(tuple(share for _, share in same))) for kind, same in found.items()
    )
