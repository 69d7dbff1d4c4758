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


TESTS = Grammar.parse("""
Query -> 'find' Test
Test -> '(' 'and' Test Tests ')' | 'airline' Airline | 'from' City | 'to' City | 'when' Day
Tests -> Test | Test Tests
Airline : delta | twa
City : boston | rome | oslo | paris
Day : monday | friday
""")
CONJUNCTS = {
    **{f"on {one} airlines": f"airline {one}" for one in ("delta", "twa")},
    **{f"from {one}": f"from {one}" for one in ("boston", "rome", "oslo", "paris")},
    **{f"to {one}": f"to {one}" for one in ("boston", "rome", "oslo", "paris")},
    **{f"this {one}": f"when {one}" for one in ("monday", "friday")},
}


@pytest.fixture(scope="module")
def flights():
    """Two conjuncts, but for one program of six, in which they are nested."""
    heads = [(one, two, two.split()[0]) for one, two in CONJUNCTS.items()]
    lines = [
        (f"flights {one} {other}", f"find ( and {first} {second} )")
        for one, first, head in heads
        for other, second, after in heads
        if head < after
    ]
    six = "find ( and airline twa from rome to oslo when friday ( and from boston to paris ) )"
    lines.append(("flights on twa airlines from rome to oslo this friday and from boston to paris", six))
    return [
        Pair(tuple(one.split()), tuple(two.split()), line, target_text=two)
        for line, (one, two) in enumerate(lines, 1)
    ]


def test_lists_grow_by_items_that_they_lack(flights):
    units = RuleUnits.learn_rules([pair.target_text for pair in flights], TESTS, UnitSettings(count=1))
    made = recombined(encode_pairs(units, flights), units, 60, seed=0, iterations=30, grow_lists=True)
    tests = [pair.target_text.removeprefix("find ") for pair in made]
    lists = [test.removeprefix("( and ").removesuffix(" )").split() for test in tests]
    assert {len(words) for words in lists} >= {6, 8}  # three and four conjuncts
    for pair, words in zip(made, lists, strict=True):
        assert "and" not in words  # nested in one program only
        assert words[::2] == sorted(set(words[::2]))
        said = {target for phrase, target in CONJUNCTS.items() if phrase in " ".join(pair.source)}
        assert {f"{head} {name}" for head, name in zip(words[::2], words[1::2], strict=True)} == said


def test_longer_lists_are_rare_unless_asked_for(flights):
    """The program of six conjuncts is larger than all others, so nothing is larger than training."""
    units = RuleUnits.learn_rules([pair.target_text for pair in flights], TESTS, UnitSettings(count=1))
    made = recombined(encode_pairs(units, flights), units, 20, seed=0, iterations=30)
    assert max(len(pair.target_text.split()) for pair in made) < 12


def test_new_items_stand_in_the_order_of_their_phrases():
    """Unless lists are sorted, the order of a sentence is that of its program."""
    both = [(one, other) for one in CONJUNCTS.items() for other in CONJUNCTS.items()]
    lines = [
        (f"flights {one} {other}", f"find {first} {second}")
        for (one, first), (other, second) in both
        if first.split()[0] != second.split()[0]
    ]
    pairs = [
        Pair(tuple(one.split()), tuple(two.split()), line, target_text=two)
        for line, (one, two) in enumerate(lines, 1)
    ]
    grammar = Grammar.parse(TESTS.text.replace("'find' Test", "'find' Tests"))
    units = RuleUnits.learn_rules([pair.target_text for pair in pairs], grammar, UnitSettings(count=1))
    made = recombined(encode_pairs(units, pairs), units, 60, seed=0, iterations=30, grow_lists=True)
    assert max(len(pair.target_text.split()) for pair in made) > 5
    for pair in made:
        text = " ".join(pair.source)
        said = sorted((text.index(phrase), target) for phrase, target in CONJUNCTS.items() if phrase in text)
        assert pair.target_text == " ".join(["find", *(target for _, target in said)])
