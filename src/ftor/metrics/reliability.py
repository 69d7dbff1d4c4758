"""How far the confidences of answers can be trusted: calibration error, and accuracy by coverage."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

COVERAGES = (0.5, 0.8, 0.9)
"""Shares of the answers, the most confident ones, whose accuracy is reported."""
BINS = 10
POINTS = 100


@dataclass(frozen=True)
class ConfidenceBin:
    """The answers whose confidences are in one tenth of 0..1."""

    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """How far the confidences of answers can be trusted.

    Attributes:
        error: expected calibration error: the mean |confidence − accuracy| of ten bins of equal width,
            weighted by their answers.
        accuracies: accuracy of the most confident answers, by their share of all, such as "0.9".
        risks: share of wrong answers among the most confident 1 %, 2 %, … 100 %.
        bins: those that have answers, least confident first.
    """

    error: float
    accuracies: dict[str, float]
    risks: tuple[float, ...]
    bins: tuple[ConfidenceBin, ...]

    def as_dict(self) -> dict[str, Any]:
        """Convert to values that can be written as JSON."""
        values = asdict(self)
        return values | {name: list(values[name]) for name in ("risks", "bins")}

    @classmethod
    def of(cls, confidences: Sequence[float], right: Sequence[bool]) -> "Reliability":
        """Compare confidences with verdicts. Equally confident answers come in no order."""
        if len(confidences) != len(right) or not len(right):
            raise ValueError(f"right: expected {len(confidences)} and at least 1, found {len(right)}")
        p, y = np.array(confidences, np.float64), np.array(right, np.float64)
        _, places = np.unique(-p, return_inverse=True)  # most confident first
        counts = np.bincount(places)
        means = np.bincount(places, y) / counts
        hits = np.cumsum(np.repeat(means, counts))

        def accuracy(coverage: float) -> float:
            kept = max(math.ceil(coverage * len(y) - 1e-9), 1)
            return float(hits[kept - 1] / kept)

        numbers = np.minimum((p * BINS).astype(np.int64), BINS - 1)
        bins = [
            ConfidenceBin(int(rows.sum()), float(p[rows].mean()), float(y[rows].mean()))
            for rows in (numbers == number for number in range(BINS))
            if rows.any()
        ]
        return cls(
            error=sum(one.count * abs(one.confidence - one.accuracy) for one in bins) / len(y),
            accuracies={str(coverage): accuracy(coverage) for coverage in COVERAGES},
            risks=tuple(1 - accuracy((point + 1) / POINTS) for point in range(POINTS)),
            bins=tuple(bins),
        )
