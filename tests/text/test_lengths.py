"""Lengths of pairs."""

import pytest

from ftor.text.lengths import length_bound, percentile
from support.pairs import pairs_of


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2), (0.75, 3), (0.76, 9), (1, 9), (0.01, 1)])
def test_percentile(share, expected):
    assert percentile([1, 2, 3, 9], share) == expected


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([3] * 60, None),
        ([3] * 60 + [99], None),
        ([3] * 60 + [3000], 100),
        ([30] * 60 + [151], 150),
        ([30] * 60 + [150], None),
        ([3] * 20 + [3000], 100),
        ([3] * 10 + [3000], 200),
        ([3] * 2 + [3000], 200),
        ([3, 3000], None),
        ([3] * 58 + [3000] * 2, 200),
        ([30] * 58 + [3000] * 2, 300),
        (list(range(2, 61)), None),
        (list(range(2, 61)) * 9, None),
        ([2, 10, 60, 200], None),
        ([10] * 95 + [100] * 5, None),
        ([30] * 95 + [300] * 5, None),
        ([3] * 30 + [3000] * 20, None),
    ],
)
def test_bound(lengths, expected):
    assert length_bound(pairs_of(("a", "b " * length) for length in lengths)) == expected
    assert length_bound(pairs_of(("a " * length, "b") for length in lengths)) == expected
