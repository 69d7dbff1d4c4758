"""Pairs that a grammar takes apart: clauses are put into lists as training has them."""

from dataclasses import replace

import pytest

from ftor.grammar import Grammar
from ftor.text.programs import UnitSettings
from ftor.text.programs.pairs import encode_pairs
from ftor.text.programs.rules import RuleUnits
from ftor.text.reading import Pair
from ftor.text.recombining import recombined

GRAMMAR = Grammar.parse("""
Query -> Clause | Clause Query
Clause -> 'GET' Source | 'FILTER' Key 'eq' Value | 'SORT' Key | 'COUNT'
Source : files | mails
Key : owner | size | colour
Value : anna | paul | huge | tiny | red | blue | @copy
""")
PHRASES = {
    "by anna": "FILTER owner eq anna",
    "by paul": "FILTER owner eq paul",
    "of size huge": "FILTER size eq huge",
    "of size tiny": "FILTER size eq tiny",
    "painted red": "FILTER colour eq red",
    "painted blue": "FILTER colour eq blue",
}


@pytest.fixture(scope="module")
def pairs():
    lines = []
    for source in ("files", "mails"):
        lines += [(f"show {source} {one}", f"GET {source} {two}") for one, two in PHRASES.items()]
        lines += [
            (f"show {source} {one} {other}", f"GET {source} {first} {second}")
            for one, first in PHRASES.items()
            for other, second in PHRASES.items()
            if first.split()[1] < second.split()[1]
        ]
    return [
        Pair(tuple(one.split()), tuple(two.split()), line, target_text=two)
        for line, (one, two) in enumerate(lines, 1)
    ]


@pytest.fixture(scope="module")
def units(pairs):
    return RuleUnits.learn_rules([pair.target_text for pair in pairs], GRAMMAR, UnitSettings(count=1))


def draw(pairs, units, count):
    made = recombined(encode_pairs(units, pairs), units, count, seed=0, iterations=30)
    for pair in made:
        assert tuple(units.encode(pair.target_text)) == pair.target
    return made


@pytest.fixture(scope="module")
def drawn(pairs, units):
    return [replace(pair, target=tuple(pair.target_text.split())) for pair in draw(pairs, units, 60)]


def test_longer_lists_are_made(pairs, drawn):
    longest = max(len(pair.target) for pair in pairs)
    assert max(len(pair.target) for pair in drawn) > longest
    assert not {pair.source for pair in drawn} & {pair.source for pair in pairs}


def test_every_clause_has_its_phrase(drawn):
    for pair in drawn:
        sentence = " ".join(pair.source)
        said = {target for phrase, target in PHRASES.items() if phrase in sentence}
        assert {f"FILTER {clause.strip()}" for clause in pair.target_text.split("FILTER")[1:]} == said, (
            sentence
        )


def test_lists_are_like_those_of_training(drawn):
    """`GET` is the first clause and the only one of its kind, keys come in one order, and none twice."""
    for pair in drawn:
        keys = [key for word, key in zip(pair.target, pair.target[1:], strict=False) if word == "FILTER"]
        assert keys == sorted(set(keys))
        assert pair.target[0] == "GET"
        assert pair.target.count("GET") == 1


def test_the_same_seed_gives_the_same_pairs(pairs, units):
    assert draw(pairs, units, 9) == draw(pairs, units, 9)


def test_targets_that_the_grammar_does_not_derive_are_left_out(pairs, units):
    other = [Pair(pair.source, ("SELECT", *pair.target), pair.line) for pair in pairs]
    assert draw(other, units, 5) == []
