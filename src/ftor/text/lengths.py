"""Lengths of pairs, and pairs that are far longer than the others."""

import math
from collections.abc import Sequence

from ftor.text.reading import Pair

LONG = 5
"""A pair that is so many times as long as nearly all others is too long to be trained on."""
LEAST_LONG = 100
"""No shorter pair is too long."""
NEARLY_ALL = 0.98
LEAST_PAIRS = 20
"""Of fewer pairs, none is too long."""


def longer_side(pair: Pair) -> int:
    """The length of the longer side."""
    return max(len(pair.source), len(pair.target))


def percentile(values: Sequence[int], share: float) -> int:
    """The least value that this share of the sorted values does not exceed."""
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def length_bound(pairs: Sequence[Pair]) -> int | None:
    """The greatest length that is trained on, if a few pairs are far longer than the others. Else None."""
    lengths = sorted(map(longer_side, pairs))
    if len(lengths) < LEAST_PAIRS:
        return None
    usual = min(percentile(lengths, NEARLY_ALL), lengths[-2])  # of few pairs, one can be too long
    bound = max(LONG * usual, LEAST_LONG)
    return bound if lengths[-1] > bound else None
