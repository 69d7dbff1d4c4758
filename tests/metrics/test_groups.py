"""Ranges: every value is in one, and they have about as many examples each."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.metrics.groups import ranges


@pytest.mark.parametrize(
    ("values", "limit", "wanted"),
    [
        ([3, 1, 3], None, [(1, 1), (3, 3)]),
        ([], None, []),
        (range(1, 13), None, [(1, 3), (4, 6), (7, 9), (10, 12)]),
        (range(1, 13), 4, [(1, 3), (4, 4), (5, 9), (10, 12)]),
        (range(1, 13), 20, [(1, 3), (4, 6), (7, 9), (10, 12)]),
        ([1] * 90 + [2, 3, 5, 6, 8], None, [(1, 1), (2, 2), (3, 3), (5, 8)]),
    ],
)
def test_examples(values, limit, wanted):
    found = ranges(list(values), most=4, limit=limit)
    assert [(one[0], one[-1]) for one in found] == wanted


@given(st.lists(st.integers(0, 40)), st.integers(1, 6), st.none() | st.integers(-1, 41))
def test_every_value_is_in_one_range(values, most, limit):
    found = ranges(values, most, limit)
    assert len(found) <= most + (limit is not None)
    places = Counter(value for one in found for value in one if value in values)
    assert places == Counter(set(values))
    assert all({one[0], one[-1]} <= set(values) for one in found)
    if limit is not None:
        assert not any(one[0] <= limit < one[-1] for one in found)
