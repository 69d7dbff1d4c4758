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
        ([3] * 10 + [3000], None),
        ([3] * 30 + [3000] * 20, None),
    ],
)
def test_bound(lengths, expected):
    assert length_bound(pairs_of(("a", "b " * length) for length in lengths)) == expected
    assert length_bound(pairs_of(("a " * length, "b") for length in lengths)) == expected
