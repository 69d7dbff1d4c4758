"""Lengths of pairs, and pairs that are far longer than the others."""

import math
from collections.abc import Sequence

from ftor.text.reading import Pair

LONG, NEARLY_ALL = 5, 0.98
"""A pair that is so many times as long as nearly all others is too long to be trained on."""
LEAST_LONG = 100
"""No shorter pair is too long."""
LEAST_PAIRS = 20
"""Of fewer pairs, only a far longer one is too long."""
FAR, MOST = 10, 0.9
"""A pair that is so many times as long as most others is far longer."""
LEAST_FAR = 200
"""No shorter pair is far longer: several such pairs fit into a batch."""


def longer_side(pair: Pair) -> int:
    """The length of the longer side."""
    return max(len(pair.source), len(pair.target))


def percentile(values: Sequence[int], share: float) -> int:
    """The least value that this share of the sorted values does not exceed."""
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def length_bound(pairs: Sequence[Pair]) -> int | None:
    """The greatest length that is trained on, if a few pairs are far longer than the others. Else None."""
    lengths = sorted(map(longer_side, pairs))
    if len(lengths) < 3:
        return None
    second = lengths[-2]  # of few pairs, one can be too long
    bound = max(FAR * min(percentile(lengths, MOST), second), LEAST_FAR)
    if len(lengths) >= LEAST_PAIRS:
        bound = min(bound, max(LONG * min(percentile(lengths, NEARLY_ALL), second), LEAST_LONG))
    return bound if lengths[-1] > bound else None
