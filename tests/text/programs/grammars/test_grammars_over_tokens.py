"""A grammar over tokens as a grammar over units: the same language, whatever units it is written in."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.grammar import Grammar
from ftor.text.programs.grammars.tokens import grammar_over_units

LISTS = """
Query -> Clause | Clause Query
Clause -> 'a' Key 'c' Name | 'b'
Key : a | b
Name -> @copy | @copy Name
"""
NESTED = """
S -> 'a' S 'b' | () | T
T -> 'c' | 'c' 'c' S
"""
UNITS = st.lists(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=4).map(tuple), max_size=4, unique=True
).map(lambda units: {"·".join(unit): unit for unit in units})


@pytest.mark.parametrize("text", [LISTS, NESTED], ids=["lists", "nested"])
@given(UNITS, st.integers(1, 4))
def test_units_are_derived_if_their_tokens_are(text, units, length):
    grammar = Grammar.parse(text)
    compiled = grammar_over_units(grammar, units)
    for names in product(["a", "b", "c", "x", *units], repeat=length):
        tokens = [token for name in names for token in units.get(name, (name,))]
        # A copied word is never a part of a unit, so the sentence has none of the words of units.
        assert compiled.accepts(names, ["x"]) == grammar.accepts(tokens, ["x"]), names


def test_the_rules_can_be_read():
    units = {"a·b·c": ("a", "b", "c")}
    assert (
        grammar_over_units(Grammar.parse(LISTS), units).text
        == """\
Query -> Clause
  | Clause Query

Clause -> 'a' Key 'c' Name
  | 'a·b·c' Name
  | 'b'

Key -> 'a'
  | 'b'

Name -> @copy
  | @copy Name
"""
    )


def test_a_unit_may_end_in_another_rule():
    grammar = Grammar.parse("S -> A B\nA -> 'a' | 'a' A\nB -> 'b' | 'b' B")
    compiled = grammar_over_units(grammar, {"a·b": ("a", "b")})
    assert compiled.accepts(["a", "a·b", "b"])
    assert not compiled.accepts(["a·b", "a", "b"])


@pytest.mark.parametrize("name", ["geo", "atis", "okapi-calendar"])
def test_without_units_the_language_is_the_same(name):
    grammar = Grammar.read(name)
    assert set(grammar_over_units(grammar, {}).terminals) == set(grammar.terminals)
