"""Numbers of several runs, beside the paper's."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ftor.lab.paper import PaperNumber
from ftor.metrics import Group, LengthGroup
from ftor.metrics.significance import LEVEL, Estimate, Sample, same_mean


@dataclass(frozen=True)
class Measured:
    """A number of several runs: one value per seed.

    Attributes:
        interval: the bootstrap interval of the mean over examples, if the judgements of all runs are cached.
    """

    values: tuple[float, ...]
    interval: Estimate | None = None

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return statistics.mean(self.values)

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the sample. None for a single value."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def worst(self) -> float:
        """The number of the worst seed."""
        return min(self.values)

    @property
    def n(self) -> int:
        """Number of seeds."""
        return len(self.values)


def measured(values: Iterable[float | None], interval: Estimate | None = None) -> Measured | None:
    """Return the values that are not None. None if there is none."""
    known = tuple(value for value in values if value is not None)
    return Measured(known, interval) if known else None


class Point(NamedTuple):
    """The percentages of several runs on the examples with one length, or one number of parameters.

    Attributes:
        x: the length or number.
        examples: how many there are.
    """

    x: int
    ours: Measured
    examples: int


def points(groups: Iterable[LengthGroup | Group]) -> tuple[Point, ...]:
    """Return a point for each length, or each value of a grouping, in the groups of several runs."""
    by_x: dict[int, list[tuple[float, int]]] = {}
    for group in groups:
        x, share = (
            (group.length, group.exact_match)
            if isinstance(group, LengthGroup)
            else (int(group.value), group.share or 0.0)
        )
        by_x.setdefault(x, []).append((100 * share, group.count))
    return tuple(
        Point(x, Measured(tuple(share for share, _ in same)), same[0][1]) for x, same in sorted(by_x.items())
    )


@dataclass(frozen=True)
class Comparison:
    """One column of a row: the paper's number and ours.

    Attributes:
        released: our number with the paper's settings.
        ours: our number with the settings that we ship.
        digits: number of decimals in the paper.
        paper_seeds: number of runs behind the paper's number.
        trivial: the numbers of trivial outputs, by their name.
        beyond: our number with what the paper does not have.
    """

    column: str
    paper: PaperNumber | None
    released: Measured | None
    ours: Measured | None
    digits: int
    paper_seeds: int
    trivial: Mapping[str, float | None]
    beyond: Measured | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return self.difference_of(self.ours)

    def difference_of(self, ours: Measured | None) -> float | None:
        """A number of ours minus the paper's."""
        return None if self.paper is None or ours is None else ours.mean - self.paper.mean

    def within_chance(self, ours: Measured | None) -> bool | None:
        """Whether the seeds explain the difference to the paper. None if the deviations are not known.

        This is Welch's t-test. A difference that the paper's digits do not show is within chance.
        """
        if self.paper is None or ours is None:
            return None
        if round(ours.mean, self.digits) == self.paper.mean:
            return True
        papers = Sample(self.paper.mean, self.paper.deviation, self.paper_seeds)
        p_value = same_mean(papers, Sample(ours.mean, ours.deviation, ours.n))
        return None if p_value is None else p_value >= 1 - LEVEL
