"""Which words name which target tokens."""

from itertools import product

from ftor.text.linking import link_words, named_apart
from ftor.text.reading import Pair

SIZES = {"largest": "max", "smallest": "min", "longest": "top"}
MEASURES = {"population": "people", "area": "land", "height": "metres"}
PLACES = {"texas": "tx", "maine": "me", "utah": "ut"}


def test_tokens_of_two_words_are_named_apart_and_those_of_one_word_are_not():
    pairs = [
        Pair(("the", size, measure, "of", place), (SIZES[size], MEASURES[measure], "id", PLACES[place]), 1)
        for size, measure, place in product(SIZES, MEASURES, PLACES)
    ]
    apart = named_apart(pairs, 30)
    assert apart >= set(product(SIZES.values(), MEASURES.values()))
    assert not any("id" in tokens for tokens in apart)


def test_a_unit_is_linked_to_a_word_that_always_comes_with_it():
    """Which of four words means `first` is not told, but it is one of them."""
    pairs = [
        Pair((*start, noun, *end), (*wrap, f"on_{day}" if day else "all", noun), 1)
        for start, wrap in ((("which",), ()), (("the", "earliest", "of", "the"), ("first",)))
        for noun in ("flights", "trains", "buses")
        for day in ("monday", "friday", "")
        for end in ((("in", "the", "week", "on", day) if day else ()),)
    ]
    for pair, links in zip(pairs, link_words(pairs, 30), strict=True):
        if "first" in pair.target:
            assert links.is_named[0]
            assert pair.source[links.word_of[0]] == "earliest"  # the longest word
