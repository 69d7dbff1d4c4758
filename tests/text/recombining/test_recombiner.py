"""Recombined pairs of a made-up language are right pairs of it, and larger than those they are made from."""

from itertools import product
from random import Random

import pytest

from ftor.grammar import Grammar
from ftor.text.programs import Programs
from ftor.text.programs.grammars import inferred_grammar
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair
from ftor.text.recombining import Recombiner

VERBS = {"show": "show", "count": "size"}
ADJECTIVES = {"red": "colour-red", "blue": "colour-blue", "big": "large", "small": "little", "old": "aged"}
NOUNS = {"cups": "cup", "plates": "plate", "forks": "fork", "knives": "knife"}


def program_of(words):
    """`show the red cups near the plates`: adjectives in order, `near` belongs to the noun before it."""
    verb, *rest = words
    return f"( {VERBS[verb]} {thing_of(rest)} )"


def thing_of(words):
    assert words[0] == "the"
    words = words[1:]
    if words[0] in ADJECTIVES:
        return f"( filter {ADJECTIVES[words[0]]} {thing_of(['the', *words[1:]])} )"
    noun = f"( all {NOUNS[words[0]]} )"
    if len(words) == 1:
        return noun
    assert words[1] == "near"
    return f"( beside {noun} {thing_of(words[2:])} )"


def sentences():
    """Few adjectives, and `near` once."""
    things = [
        ["the", *adjectives, noun]
        for count in range(3)
        for adjectives in product(ADJECTIVES, repeat=count)
        for noun in NOUNS
    ]
    short = [thing for thing in things if len(thing) < 4]
    for verb in VERBS:
        yield from ([verb, *thing] for thing in things)
        yield from ([verb, *one, "near", *other] for one in short for other in short)


@pytest.fixture(scope="module")
def training():
    drawn = Random(0).sample(sorted(sentences()), 200)
    return [Pair(tuple(words), (), i, target_text=program_of(words)) for i, words in enumerate(drawn, 1)]


@pytest.fixture(scope="module")
def programs(training):
    return Programs.learn([pair.target_text for pair in training])


@pytest.fixture(scope="module")
def encoded(training, programs):
    return encode_pairs(programs, training)


@pytest.fixture(scope="module")
def drawn(encoded, programs):
    return Recombiner(encoded, programs, iterations=30).draw(200, seed=0)


def test_all_are_pairs_of_the_language(drawn):
    assert len(drawn) == 200
    wrong = [pair for pair in drawn if program_of(list(pair.source)) != pair.target_text]
    assert wrong == []


def test_some_are_larger_than_all_of_training(drawn, encoded):
    longest = max(len(pair.target) for pair in encoded)
    sizes = [len(pair.target) for pair in drawn]
    assert sum(size > longest for size in sizes) >= 20
    assert max(sizes) <= 1.5 * longest


def test_they_are_new_and_different(drawn, encoded):
    sources = {pair.source for pair in drawn}
    assert len(sources) == len(drawn)
    assert not sources & {pair.source for pair in encoded}


def test_they_are_accepted_by_the_inferred_grammar_and_come_back_to_the_letter(drawn, encoded, programs):
    grammar = Grammar.parse(inferred_grammar(encoded, programs))
    for pair in drawn:
        assert grammar.accepts(pair.target)
        assert tuple(programs.encode(pair.target_text)) == pair.target
        assert programs.decode(pair.target) == pair.target_text


def test_the_same_seed_gives_the_same_pairs(encoded, programs, drawn):
    assert Recombiner(encoded, programs, iterations=30).draw(200, seed=0) == drawn
    assert Recombiner(encoded, programs, iterations=30).draw(200, seed=1) != drawn


def test_pairs_without_common_parts_give_none():
    texts = {"a b": "( f x )", "c d": "( g ( h y ) z )"}
    pairs = [Pair(tuple(source.split()), (), 1, target_text=text) for source, text in texts.items()]
    programs = Programs.learn(list(texts.values()))
    assert Recombiner(encode_pairs(programs, pairs), programs, iterations=5).draw(10, seed=0) == []
