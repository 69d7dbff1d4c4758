"""Separable orders of copied words, against all ways of telling the copies apart."""

from itertools import combinations, permutations, product

import pytest

from ftor.text.separability import crossings, inseparable_blocks, needed_order, repeats, words_first


def is_separable(permutation):
    """No four items in the order 2 4 1 3 or 3 1 4 2."""
    for four in combinations(permutation, 4):
        rank = tuple(sorted(four).index(item) for item in four)
        if rank in ((1, 3, 0, 2), (2, 0, 3, 1)):
            return False
    return True


def some_separable(output):
    """Whether the copies of each word can be told apart such that the output is separable."""
    places = {word: [i for i, other in enumerate(output) if other == word] for word in set(output)}
    for orders in product(*(list(permutations(places[word])) for word in sorted(places))):
        ranks = {place: rank for rank, place in enumerate(place for order in orders for place in order)}
        if is_separable([ranks[place] for place in range(len(output))]):
            return True
    return False


@pytest.mark.parametrize(("length", "expected"), [(4, 22), (5, 90), (6, 394)])
def test_separable_permutations_are_as_many_as_known(length, expected):
    found = [p for p in permutations(range(length)) if needed_order(p) != "not separable"]
    assert len(found) == expected
    assert all(map(is_separable, found))


@pytest.mark.parametrize(("length", "words"), [(5, 3), (6, 3), (5, 4)])
def test_copies_of_a_word_may_stand_for_each_other(length, words):
    outputs = list(product(range(words), repeat=length))
    for output in outputs:
        assert (needed_order(output) != "not separable") == some_separable(output), output
    assert {needed_order(output) for output in outputs} >= {"none", "separable"}


def test_copies_that_alternate_are_separable_and_doubled_strings_are_not():
    assert needed_order([2, 1] * 6) == "separable"
    assert needed_order([1, 2, 3] * 2) == "separable"
    assert needed_order([1, 2, 3, 4] * 2) == "not separable"
    assert needed_order([1, 1, 2, 5, 5]) == "none"


def test_the_block_that_is_not_separable_is_found_inside_others():
    assert inseparable_blocks([9, 1, 3, 5, 2, 4, 8]) == [(2, 6)]
    assert inseparable_blocks([5, 7, 4, 6, 1, 3, 0, 2]) == [(0, 4), (4, 8)]
    assert inseparable_blocks([]) == []


@pytest.mark.parametrize(
    ("sources", "enough"),
    [([2, 2, 1, 1], True), ([1, 2, 1], False), ([2, 4, 1, 3], False), ([2, 4, 4, 3, 1], True)],
)
def test_words_that_are_reordered_before_they_are_copied(sources, enough):
    assert words_first(sources) is enough


def test_crossing_links_and_repeated_sources_are_counted():
    assert crossings([1, 2, 3]) == 0
    assert crossings([3, 1, 1]) == 2
    assert repeats("xabcabcyabc", "abc") == 3
    assert repeats("abab", "aba") == 1
