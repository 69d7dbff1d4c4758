"""A grammar over words, compiled to units, derives the same programs."""

import random

import pytest

from ftor.grammar import Grammar, GrammarError
from ftor.grammar.reading import Words
from ftor.text.programs import ProgramError, Programs, UnitSettings
from ftor.text.programs.grammars.compiling import compiled, left_out
from oracles.grammar import language, write

SETTINGS = UnitSettings(count=2)
TRAINING = {
    "s-expression": [
        "( f a ( g b ) )",
        "( f b ( g a ) )",
        "( h )",
        "( h a ( g b ) )",
        "( h b ( h a b a ) a )",
        "( ( f a ( g b ) ) b )",
    ]
    * 2,
    "calls": [
        "f ( a , g ( b ) )",
        "f ( b , g ( a ) )",
        "h ( )",
        "h ( a , g ( b ) )",
        "h ( b , h ( a , b , a ) , a )",
        "[ f ( a , g ( b ) ) , b ]",
    ]
    * 2,
    "prefix": ["f a g b", "f b g a", "f a a", "f f a b g g b"] * 2,
}
NAMES = ["S", "A", "B", "C", "D"]
NUMBER, UNITS = 150, 4
ONE_TREE = {"s-expression": ["A", "B", "C", "D"], "calls": ["A", "D"], "prefix": ["A", "C"]}
LONGEST = {"s-expression": 8, "calls": 8, "prefix": 5}


def random_grammar(notation, chance):
    """Rules whose brackets match. Many derive pieces that are no programs, or cut trees in two."""

    def row(depth):
        found = [part for _ in range(chance.choice([0, 1, 1, 2, 2, 3])) for part in [*item(depth), "',"]][:-1]
        if notation != "calls":
            return [part for part in found if part != "',"]
        more = chance.random()
        if more < 0.2:
            return ["B"]
        return [*item(depth), "',", "B"] if more < 0.3 else [*item(depth), "C"] if more < 0.5 else found

    def item(depth):
        kind = chance.random()
        if kind < 0.4:
            return [chance.choice(ONE_TREE[notation])]
        if kind < 0.65 or not depth:
            return [chance.choice(["'a", "'b"])]
        head = [chance.choice(["'f", "'g", "'h", "D"])] if chance.random() < 0.85 else []
        if notation == "prefix":
            both = ["B"] if chance.random() < 0.3 else [*item(depth - 1), *item(depth - 1)]
            return chance.choice([["'g", *item(depth - 1)], ["'f", *both], ["D", *both]])
        if notation == "s-expression":
            return ["'(", *head, *row(depth - 1), "')"]
        opening, closing = ("'(", "')") if head else ("'[", "']")
        return [*head, opening, *row(depth - 1), closing]

    several = range(chance.randint(1, 3))
    grammar = {
        "S": [item(3) for _ in range(2)],
        "A": [item(2) for _ in several],
        "B": [row(2) for _ in several],
    }
    grammar["C"] = [[], ["',", *item(1), "C"]] if notation == "calls" else [row(2) for _ in several]
    if notation == "prefix":
        return grammar | {
            "B": [item(1) + item(1) for _ in several],
            "C": [item(1) for _ in several],
            "D": [["'f"]],
        }
    heads = [["'f"], ["'h"]]
    grammar["D"] = heads if chance.random() < 0.5 else [item(1) for _ in several]
    return grammar


def as_alternatives(grammar):
    table = {}
    for rule in grammar.rules:
        options = [[]]
        for part in rule.parts:
            words = [f"'{word}" for word in part.words] if isinstance(part, Words) else [part]
            options = [[*option, word] for option in options for word in words]
        table.setdefault(rule.name, []).extend(options)
    return table


def programs_of(strings, programs):
    """Of strings of words, the programs whose nodes training has, in units."""
    known = dict(programs.units)
    found = {}
    for words in strings:
        try:
            units = programs.encode(" ".join(words))
        except ProgramError:
            continue
        if known.keys() >= set(units) and programs.decode(units) == " ".join(words):
            found[words] = units
    return found


@pytest.mark.parametrize("notation", TRAINING)
def test_the_same_programs_are_derived(notation):
    programs = Programs.learn(TRAINING[notation], notation, SETTINGS)
    chance = random.Random(notation)
    tried, derived = 0, 0
    for _ in range(NUMBER):
        table = random_grammar(notation, chance)
        try:
            grammar = Grammar.parse(write(table))
        except GrammarError:  # a name that is not used, or that derives nothing
            continue
        expected = programs_of(language(table, LONGEST[notation]), programs)
        try:
            over_units = compiled(grammar, programs)
        except GrammarError as error:
            assert "whole parts" in str(error) or not expected, (write(table), expected)  # noqa: PT017
            continue
        if over_units is grammar:  # all its words are units, and it has no brackets
            continue
        tried += 1
        derived += len(expected)
        for words, units in expected.items():
            assert over_units.accepts(units), (write(table), words, over_units.text)
        for units in language(as_alternatives(over_units), UNITS):
            if not units:
                continue
            text = programs.decode(units)
            assert grammar.accepts(text.split()), (write(table), units, over_units.text)
    assert tried >= 20
    assert derived >= 100


JSON = [
    '{"city": "rome", "with": []}',
    '{"city": "new york", "with": ["a", "b"]}',
    '{"city": "rome", "with": ["b"]}',
]
JSON_GRAMMAR = """
S -> '{' '"city"' ':' City ',' '"with"' ':' '[' Names ']' '}'
City -> '"rome"' | '"' 'new' 'york' '"' | '"' @copy '"'
Names -> () | Name Rest
Rest -> () | ',' Name Rest
Name -> '"a"' | '"b"'
"""


def test_names_in_quotes_keys_and_copies():
    programs = Programs.learn(JSON * 3)
    grammar = compiled(Grammar.parse(JSON_GRAMMAR), programs)
    assert all(grammar.accepts(programs.encode(text)) for text in JSON)
    longer = '{"city": "oslo", "with": ["b", "b", "a", "b"]}'
    assert grammar.accepts(programs.encode(longer), ["in", "oslo"])
    assert not grammar.accepts(programs.encode(longer), ["in", "rome"])
    assert not grammar.accepts(programs.encode('{"city": "york new", "with": []}'))
    strings = {unit for unit in programs.units if '"' in unit and not unit.startswith('"with')}
    assert {'"city":', '"', '"('} <= strings
    assert grammar.accepts(programs.encode('{"city": "new york", "with": ["a"]}'))
    assert not grammar.accepts(programs.encode('{"city": "a b", "with": []}'))


def test_a_head_and_its_arguments_may_be_cut_anywhere():
    programs = Programs.learn(TRAINING["s-expression"], "s-expression", SETTINGS)
    rules = "S -> '(' Body ')'\nBody -> Begin More\nBegin -> 'h' X | Begin X\nMore -> () | X\nX : a | b"
    grammar = compiled(Grammar.parse(rules), programs)
    assert grammar.accepts(programs.encode("( h a b a b )"))
    assert not grammar.accepts(programs.encode("( h )"))


@pytest.mark.parametrize(
    ("notation", "rules", "problem"),
    [
        (
            "s-expression",
            "S -> Open 'a' ')'\nOpen -> '(' 'h'",
            r"g:1: rule 'S': its brackets do not match",
        ),
        ("calls", "S -> 'h' '(' A B ')'\nA -> 'a' ',' 'b'\nB -> 'a'", "without a comma between"),
        ("calls", "S -> 'h' '(' A ')'\nA -> () | 'a' ',' A", "rule 'S': a comma may stand beside a bracket"),
        ("calls", "S -> 'h' '(' A ',' ',' A ')'\nA -> 'a'", "two commas"),
        ("calls", "S -> 'a' ',' 'b' | 'h' '(' ')'", "a comma outside brackets"),
        (
            "prefix",
            "S -> 'f' A\nA -> 'a' 'g' | B B\nB -> 'a' C\nC -> 'g'",
            "tree does not end where the rule",
        ),
        ("calls", "S -> 'unknown' '(' 'a' ')'", "derives no program in the units"),
    ],
)
def test_what_is_refused(notation, rules, problem):
    programs = Programs.learn(TRAINING[notation], notation, SETTINGS)
    with pytest.raises(GrammarError, match=problem):
        compiled(Grammar.parse(rules, "g"), programs)


def test_prefix_words_that_training_lacks_are_left_out():
    programs = Programs.learn(TRAINING["prefix"], "prefix", SETTINGS)
    grammar = compiled(Grammar.parse("S -> 'f' S S | 'g' S | 'new' S | 'a' | 'c'"), programs)
    assert "Left out, because training has no such programs: S -> 'new' S" in grammar.text
    assert grammar.accepts(programs.encode("f a g c"))


@pytest.mark.parametrize(
    ("targets", "rules", "lost"),
    [
        (
            ["( f ( g a ) )", "( f b )"],
            "S -> '(' 'f' X ')'\nX -> 'a' | 'new' | '(' 'g' X ')' | '(' 'new' X ')'",
            ["X -> '(' 'new' X ')'"],
        ),
        (
            ["( and ( or a b ) c )", "( or a ( and b c ) )"],
            "S -> X\nX -> '(' Op X X ')' | Leaf\nOp : and | or | xor\nLeaf : a | b | d",
            ["Op -> 'xor'"],
        ),
        (
            ["( call p a b )", "( call q b )", "( call q a )", "( call p b a )"],
            "S -> '(' 'call' 'p' X X ')' | '(' 'call' 'new' X ')'\nX : a | b",
            ["S -> '(' 'call' 'new' X ')'"],
        ),
        (
            ["f ( a , g ( b ) )", "f ( b , a )"],
            "S -> 'f' '(' X ',' X ')'\nX -> 'a' | 'g' '(' X ')' | 'new' '(' X ')'",
            ["X -> 'new' '(' X ')'"],
        ),
        (
            ['{"f": 1}', '{"g": 2}', '{"f": 1, "g": 2}'],
            "S -> '{' X '}'\nX -> '\"f\"' ':' N | '\"g\"' ':' N | '\"new\"' ':' N\nN : 1 | 2 | 3",
            ["X -> '\"new\"' ':' N"],
        ),
    ],
    ids=["s-expression", "heads of a rule", "curried", "calls", "json"],
)
def test_heads_that_training_lacks_are_left_out_and_named(targets, rules, lost):
    programs = Programs.learn(targets * 5, settings=UnitSettings(count=100))
    assert left_out(compiled(Grammar.parse(rules), programs)) == lost


def test_a_grammar_over_units_stays_as_it_is():
    programs = Programs.learn(TRAINING["s-expression"], "s-expression", SETTINGS)
    grammar = Grammar.parse("S -> 'h(' Items\nItems -> ')' | 'a' Items")
    assert compiled(grammar, programs) is grammar
