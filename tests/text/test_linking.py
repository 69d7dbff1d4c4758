"""Which words name which target tokens."""

from itertools import product

from ftor.text.linking import named_apart
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
