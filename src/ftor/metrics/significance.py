"""How sure numbers are: bootstrap intervals, comparisons of two models, and unlikely counts."""

from dataclasses import dataclass
from math import exp, lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
RESAMPLES = 10_000


class Estimate(NamedTuple):
    """A mean over examples, and the interval that it has with probability `LEVEL`."""

    value: float
    low: float
    high: float


def bootstrap(values: ArrayLike, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The mean of values with its bootstrap interval, between percentiles of the means of resamples.

    A resample is drawn as the number of times that each different value occurs in it. This is the same
    distribution as that of drawing examples, and takes no longer for many examples.

    Args:
        values: a number for each example, such as 1 for a right answer and 0 for a wrong one.
        level: the probability of the interval.
        resamples: how many resamples are drawn.
        seed: the same seed gives the same interval.
    """
    array = np.asarray(values)
    if not array.size:
        raise ValueError("values: there are none")
    different, counts = np.unique(array, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(array.size, counts / array.size, resamples)
    means = drawn @ different.astype(np.float64) / array.size
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(array.mean()), float(low), float(high))


def share(right: NDArray[np.bool_], level: float = LEVEL) -> Estimate:
    """The share of right answers with its bootstrap interval.

    If all or none are right, every resample is the same, and the interval would have no width. The bounds are
    then those of Clopper and Pearson.
    """
    if right.all() and right.size:
        return Estimate(1.0, ((1 - level) / 2) ** (1 / right.size), 1.0)
    if not right.any() and right.size:
        return Estimate(0.0, 0.0, 1 - ((1 - level) / 2) ** (1 / right.size))
    return bootstrap(right, level)


def share_of_runs(right: NDArray[np.bool_]) -> Estimate:
    """The mean share of right answers of several runs, (runs, examples), with its interval.

    Examples are drawn, each with the answers of all runs: the runs have answered the same examples.
    """
    if right.all() or not right.any():
        return share(right[0])
    return bootstrap(right.mean(0))


class Sample(NamedTuple):
    """A mean of `n` runs. The deviation is None if it is not known, or of one run."""

    mean: float
    deviation: float | None
    n: int


def same_mean(one: Sample, other: Sample) -> float | None:
    """Welch's t-test: how likely means so different are if runs of both have the same expectation.

    If the deviation of one is not known, it is taken to be that of the other. None if neither is known.
    """
    difference = abs(one.mean - other.mean)
    known = [sample for sample in (one, other) if sample.deviation is not None and sample.n > 1]
    if not known:
        return None
    if len(known) == 1:
        variances = [(known[0].deviation or 0.0) ** 2 / sample.n for sample in (one, other)]
        freedom = float(known[0].n - 1)
    else:
        variances = [(sample.deviation or 0.0) ** 2 / sample.n for sample in known]
        spread = sum(part**2 / (sample.n - 1) for part, sample in zip(variances, known, strict=True))
        freedom = sum(variances) ** 2 / spread if spread else 1.0
    if not sum(variances):
        return float(difference == 0)
    return student_tail(difference / sum(variances) ** 0.5, freedom)


def student_tail(t: float, freedom: float) -> float:
    """The probability that a variable with Student's distribution is at least `t` from 0.

    With x = sqrt(freedom)·tan θ the density is proportional to cos(θ)^(freedom − 1), which is integrated.
    """
    angles = np.linspace(0, np.pi / 2, 20_001)
    density = np.cos(angles).clip(0) ** (freedom - 1)
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    inside = np.interp(np.arctan(t / freedom**0.5), angles, below / below[-1])
    return float(1 - inside)


@dataclass(frozen=True)
class Comparison:
    """Two models on the same examples.

    Attributes:
        first, second: their shares of right answers.
        difference: second − first, with the interval of the paired bootstrap.
        both, only_first, only_second, neither: how many examples they answer right.
        p_value: of the exact, two-sided McNemar test: the probability of changes as one-sided as these, if
            neither model were better.
    """

    first: Estimate
    second: Estimate
    difference: Estimate
    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float


def compare(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Comparison:
    """Compare two models by whether each of their answers to the same examples is right."""
    if first.shape != second.shape:
        raise ValueError(f"second: expected {first.size} verdicts, as many as first, found {second.size}")
    only_first, only_second = int(np.sum(first & ~second)), int(np.sum(second & ~first))
    return Comparison(
        share(first),
        share(second),
        bootstrap(second.astype(int) - first.astype(int)),
        int(np.sum(first & second)),
        only_first,
        only_second,
        int(np.sum(~first & ~second)),
        mcnemar(only_first, only_second),
    )


def mcnemar(one: int, other: int) -> float:
    """The exact two-sided McNemar test: how likely so unequal numbers of changes are if each is as likely.

    This is the binomial test of `one` among `one + other` with probability 1/2.
    """
    changes = one + other
    term = total = 1  # binomial coefficients, in integers of any size
    for k in range(min(one, other)):
        term = term * (changes - k) // (k + 1)
        total += term
    return min(1.0, 2 * total / (1 << changes))


def tail(hits: int, draws: int, marked: int, examples: int) -> float:
    """The probability of at least `hits` marked ones among `draws` of the examples (hypergeometric).

    It is the one-sided test of Fisher, for instance of whether answers to sentences with a word are wrong
    more often than other answers.
    """
    first, last = max(hits, draws + marked - examples), min(draws, marked)
    if hits > last:
        return 0.0
    logs = [
        _log_choose(marked, k) + _log_choose(examples - marked, draws - k) - _log_choose(examples, draws)
        for k in range(first, last + 1)
    ]
    return min(1.0, sum(map(exp, logs)))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
