"""Words beside those that name units."""

from itertools import product

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


def words_of(pair, unit):
    links = dict(zip(mixer_pairs(), link_words(mixer_pairs(), 30, closely=True), strict=True))[pair]
    return {pair.source[word] for word in links.words([pair.target.index(unit)])}


def test_a_word_that_decides_what_another_one_means_belongs_to_its_phrase():
    pairs = mixer_pairs()
    for pair in pairs:
        if pair.target[0] == "gain":
            assert words_of(pair, pair.target[2]) >= {pair.source[0], pair.source[4]}


def test_a_word_that_always_comes_with_a_unit_belongs_to_its_phrase():
    pair = next(pair for pair in mixer_pairs() if pair.target[0] == "send")
    assert words_of(pair, "send") == {"route", "to"}


def test_a_token_that_stands_in_the_sentence_names_itself():
    pairs = [
        Pair(("lot", str(number), "for", str(price)), ("sell", str(price), str(number)), 1)
        for number, price in zip(range(100, 120), range(200, 220), strict=True)
    ]
    for pair, links in zip(pairs, link_words(pairs, 30, closely=True), strict=True):
        assert [pair.source[links.word_of[place]] for place in (1, 2)] == list(pair.target[1:])
