"""A grammar over units, written in words, derives the same programs."""

import random

import pytest

from ftor.grammar import Grammar, GrammarError
from ftor.text.programs import Programs, TokenUnits
from ftor.text.programs.grammars import in_notation, inferred_grammar, over_units
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair
from oracles.grammar import language, write
from text.programs.grammars.test_compiling import (
    SETTINGS,
    TRAINING,
    as_alternatives,
    programs_of,
    random_grammar,
)

JSON = [
    '{"do": "on", "what": ["lamp", "fan"]}',
    '{"do": "off", "what": []}',
    '{"do": "off", "what": ["lamp"]}',
    '{"do": "on", "what": ["a big lamp", "fan", "fan"]}',
]
TARGETS = {**TRAINING, "json": JSON * 2}


def learned(notation):
    targets = TARGETS[notation]
    programs = Programs.learn(targets, notation, SETTINGS)
    pairs = [
        Pair(("x",), tuple(target.split()), line, target_text=target)
        for line, target in enumerate(targets, 1)
    ]
    return programs, encode_pairs(programs, pairs)


@pytest.mark.parametrize("notation", TARGETS)
def test_inferred_grammars_are_what_is_inferred_in_words(notation):
    programs, pairs = learned(notation)
    spelled = in_notation(Grammar.parse(inferred_grammar(pairs, programs)), programs)
    wanted = Grammar.parse(inferred_grammar(pairs, programs, original=True))
    longest = {"json": 6, "calls": 8}.get(notation, 6)
    found = language(as_alternatives(spelled), longest)
    assert found == language(as_alternatives(wanted), longest)
    assert found


@pytest.mark.parametrize("notation", TRAINING)
def test_compiled_grammars_come_back(notation):
    programs, _ = learned(notation)
    chance = random.Random(notation)
    compared, longest = 0, 6 if notation == "calls" else 5
    for _ in range(80):
        try:
            units = over_units(Grammar.parse(write(random_grammar(notation, chance))), programs)
            if not programs.units.keys() >= set(units.terminals):
                continue
        except GrammarError:
            continue
        spelled = in_notation(units, programs)
        of_units, of_words = (
            language(as_alternatives(one), size) for one, size in ((units, 3), (spelled, longest))
        )
        for string in of_units - {()}:
            words = programs.decode(string).split()
            assert spelled.accepts(words), (units.text, spelled.text, string)
        known = programs_of(of_words, programs)
        for words, encoded in known.items():
            assert units.accepts(encoded), (units.text, spelled.text, words)
        compared += len(known)
    assert compared > 20


def test_copies_stay(tmp_path):
    programs = Programs.learn(["(f ann (g bob))", "(f cy (g ann))"] * 2, copied={"ann", "bob", "cy"})
    pairs = [Pair(("ann", "bob"), tuple(programs.encode("(f ann (g bob))")), 1)]
    grammar = Grammar.parse(inferred_grammar(pairs, programs, copies=True))
    spelled = in_notation(grammar, programs)
    assert spelled.accepts(["(", "f", "dan", "(", "g", "eve", ")", ")"], ["dan", "eve"])
    assert not spelled.accepts(["(", "f", "dan", "(", "g", "eve", ")", ")"])


def test_a_rule_that_cuts_trees_is_refused():
    programs, _ = learned("s-expression")
    unit = next(name for name, unit in programs.units.items() if name != ")" and "." in unit)
    with pytest.raises(GrammarError, match=r"g.cfg:1: rule 'S': expected a unit and what fills its slots"):
        in_notation(Grammar.parse(f"S -> '{unit}'", "g.cfg"), programs)


def test_units_of_tokens_are_written_as_tokens():
    units = TokenUnits.learn(["big red dog", "big red cat"] * 5)
    assert any(len(units.spell([unit])) > 1 for unit in units.encode("big red dog"))
    grammar = Grammar.parse("S -> 'big' 'red' A | A\nA -> 'dog' | @copy")
    spelled = in_notation(over_units(grammar, units), units)
    assert language(as_alternatives(spelled), 4) == language(as_alternatives(grammar), 4)
    assert spelled.copies
