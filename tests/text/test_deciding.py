"""Words beside those that name units."""

from itertools import product

import pytest

from ftor.text.linking import link_words
from ftor.text.reading import Pair

SIGNS, TRACKS, NUMBERS = {"raise": "+", "lower": "-"}, ("bass", "cello", "flute"), ("1", "2", "3", "4")


def mixer_pairs():
    gains = [
        Pair((verb, "the", track, "by", number), ("gain", track, sign + number), 1)
        for (verb, sign), track, number in product(SIGNS.items(), TRACKS, NUMBERS)
    ]
    sends = [
        Pair(("route", "the", track, "to", bus), ("send", track, bus), 1)
        for track, bus in product(TRACKS, ("echo", "delay", "verb", "room"))
    ]
    return (gains + sends) * 2


@pytest.fixture(scope="module")
def phrases():
    """The words of each unit, for each pair."""
    pairs = mixer_pairs()
    return {
        pair: [{pair.source[word] for word in links.words([unit])} for unit in range(len(pair.target))]
        for pair, links in zip(pairs, link_words(pairs, 30, closely=True), strict=True)
    }


def test_a_word_that_decides_what_another_one_means_belongs_to_its_phrase(phrases):
    gains = {pair: words for pair, words in phrases.items() if pair.target[0] == "gain"}
    assert gains
    for pair, words in gains.items():
        assert words[2] >= {pair.source[0], pair.source[4]}


def test_a_word_that_always_comes_with_a_unit_belongs_to_its_phrase(phrases):
    sends = [words for pair, words in phrases.items() if pair.target[0] == "send"]
    assert sends
    assert all(words[0] == {"route", "to"} for words in sends)


def test_a_token_that_stands_in_the_sentence_names_itself():
    pairs = [
        Pair(("lot", str(number), "for", str(price)), ("sell", str(price), str(number)), 1)
        for number, price in zip(range(100, 120), range(200, 220), strict=True)
    ]
    for pair, links in zip(pairs, link_words(pairs, 30, closely=True), strict=True):
        assert [pair.source[links.word_of[place]] for place in (1, 2)] == list(pair.target[1:])


def test_a_bracket_names_nothing():
    """A sentence can have a bracket that is also the unit that closes a list."""
    sides = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "b")]
    pairs = [
        Pair(("(", one, "and", other, ")", "or", last), ("or(", "and(", one, other, ")", last, ")"), 1)
        for one, other in sides
        for last in ("x", "y")
    ]
    for pair, links in zip(pairs, link_words(pairs, 30, closely=True), strict=True):
        named = [links.word_of[place] for place, unit in enumerate(pair.target) if unit == ")"]
        assert pair.source.index(")") not in named
