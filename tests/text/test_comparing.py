"""Pairs of two files: the same ones, and swapped columns."""

from ftor.text.comparing import looks_swapped, same_pairs
from support.pairs import pairs_of

TRAIN = pairs_of([("one two", "1 2"), ("two", "2")])


def test_same_pairs():
    others = pairs_of([("two", "2"), ("one two", "1")])
    assert [pair.line for pair in same_pairs(others, TRAIN)] == [1]


def test_swapped_columns():
    assert looks_swapped(pairs_of([("1", "one")]), TRAIN)
    assert not looks_swapped(pairs_of([("one", "1")]), TRAIN)
    assert not looks_swapped(pairs_of([("new", "3")]), TRAIN)
    same_words = pairs_of([("a b", "b a"), ("b", "b")])
    assert not looks_swapped(pairs_of([("b a", "a b")]), same_words)
