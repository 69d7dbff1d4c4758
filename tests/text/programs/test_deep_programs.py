"""Very deep and very wide programs: no step recurses, and none takes quadratic time."""

import time
from math import inf

import pytest

from ftor.grammar import Grammar
from ftor.text.programs import Programs
from ftor.text.programs.grammars import inferred_grammar
from ftor.text.programs.grammars.coverage import LONGEST, Coverage, coverage
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair

WORDS = [f"w{number}" for number in range(5_000)]
PROGRAMS = {
    "10,000 levels": ["(f " * 10_000 + "a" + ")" * 10_000, "(f (f b))"],
    "3,000 heads in each other": ["".join(f"(f{n} " for n in range(3_000)) + "a" + ")" * 3_000, "(f1 a)"],
    "the same 3,000 heads twelve times": ["".join(f"(f{n} " for n in range(3_000)) + "a" + ")" * 3_000] * 12,
    "5,000 children in a list": [f"(and {' '.join(WORDS)})", "(and a b)", "(and a)"],
    "5,000 arguments with commas": [f"and({', '.join(WORDS)})", "and(a, b)", "and(a)"],
    "always 5,000 children": [f"(f {' '.join(WORDS)})", f"(f {' '.join(WORDS[::-1])})"] * 3,
    "10,000 levels of lists": ["[" * 10_000 + "]" * 10_000, "[1, 2]"],
}


@pytest.mark.parametrize("targets", PROGRAMS.values(), ids=PROGRAMS)
def test_seconds_are_enough(targets):
    begun = time.process_time()
    programs = Programs.learn(targets)
    pairs = encode_pairs(
        programs, [Pair(("x",), (), line, None, text) for line, text in enumerate(targets, 1)]
    )
    assert programs.decode(pairs[0].target) == targets[0]
    grammar = Grammar.parse(inferred_grammar(pairs, programs))
    assert grammar.accepts(pairs[0].target)
    assert grammar.tree(pairs[0].target).words == pairs[0].target
    assert time.process_time() - begun < 10  # about 1 s each


WIDE = ("5,000 children in a list", "5,000 arguments with commas", "10,000 levels", "10,000 levels of lists")


@pytest.mark.parametrize("targets", [PROGRAMS[name] for name in WIDE], ids=WIDE)
def test_rules_of_the_notation_recognise_them_in_seconds(targets):
    programs = Programs.learn(targets)
    pairs = encode_pairs(
        programs, [Pair(("x",), (), line, None, text) for line, text in enumerate(targets, 1)]
    )
    grammar = Grammar.parse(inferred_grammar(pairs, programs, original=True))
    words = programs.notation.split(targets[0])
    begun = time.process_time()
    assert grammar.accepts(words)
    assert grammar.tree(words).words == tuple(words)
    assert grammar.why_not(words[:-1]).startswith(f"unfinished after {len(words) - 1} words")
    assert time.process_time() - begun < 10  # about 1 s each


def test_programs_are_counted_up_to_a_length_only():
    targets = ["(f a)", "(f (f a))", "(f (f (f b)))", PROGRAMS["10,000 levels"][0]] * 5
    pairs = [Pair(("x",), (), line, None, text) for line, text in enumerate(targets, 1)]
    for found in coverage(pairs, "s-expression", False):
        assert found.longest == LONGEST
        assert found.accepted == found.held_out
    none = Coverage("typed", 1, 2, 0, 0, -inf, LONGEST)
    assert str(none).endswith(f"derives no program of up to {LONGEST} units")
