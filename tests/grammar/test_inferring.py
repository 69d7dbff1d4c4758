"""Inferred grammars accept all training programs, and converge to the language that made them."""

import random

import pytest

from ftor.grammar import Grammar, GrammarError
from ftor.grammar.inferred_rules import RowKind, Spelling
from ftor.grammar.inferring import count_programs, infer
from ftor.grammar.unit_slots import UnitSlots

UNITS = UnitSlots({"answer": ".", "largest": ".", "state": ".", "and(": "*", "size": "..", "river": "."}, ")")
PROGRAMS = [
    "answer largest state all",
    "answer state all",
    "answer and( state all largest state all )",
    "answer size state all texas",
    "answer size state all utah",
    "answer river everything",
]


def grammar(programs=PROGRAMS, **options):
    return Grammar.parse(infer([program.split() for program in programs], UNITS, **options))


@pytest.mark.parametrize("generality", ["typed", "union", "arity"])
def test_training_is_accepted(generality):
    inferred = grammar(generality=generality)
    assert all(inferred.accepts(program.split()) for program in PROGRAMS)


def test_new_combinations_are_accepted_and_other_types_are_not():
    inferred = grammar()
    assert inferred.accepts(["answer", "size", "largest", "largest", "state", "all", "texas"])
    assert not inferred.accepts(["answer", "size", "texas", "state", "all"])
    assert not inferred.accepts(["answer", "state", "everything"])
    assert not inferred.accepts(["answer", "state", "all", "all"])
    assert grammar(generality="arity").accepts(["answer", "size", "texas", "state", "everything"])


def test_in_a_union_units_of_one_head_fill_the_same_slots():
    units = UnitSlots(
        {"h": ".", "k": ".", "f·a": ".", "f·b": "."},
        ")",
        heads={"h": "h", "k": "k", "f·a": "f", "f·b": "f"},
        owners={("h", 0): ("h", 0), ("k", 0): ("k", 0), ("f·a", 0): ("f", 1), ("f·b", 0): ("f", 1)},
    )
    programs = [["h", "f·a", "x"], ["k", "f·b", "y"]]
    by = {kind: Grammar.parse(infer(programs, units, kind)) for kind in ("typed", "union", "arity")}
    other_filler, other_argument, no_type = ["h", "f·b", "y"], ["h", "f·a", "y"], ["h", "y"]
    assert [kind for kind in by if by[kind].accepts(other_filler)] == ["union", "arity"]
    assert [kind for kind in by if by[kind].accepts(other_argument)] == ["union", "arity"]
    assert [kind for kind in by if by[kind].accepts(no_type)] == ["arity"]


def test_lists_are_recursive():
    inferred = grammar()
    assert inferred.accepts(f"answer and( {'state all ' * 7} )".split())
    assert inferred.accepts(["answer", "and(", ")"])
    assert not inferred.accepts(["answer", "and(", "texas", ")"])


@pytest.mark.parametrize("least", [0, 1, 2])
@pytest.mark.parametrize("separator", [None, ","])
def test_lists_are_no_shorter_than_those_of_training(least, separator):
    """Few lists say nothing, five that none is empty, twenty that each has two items."""
    parts = ["and(", 0, ")"]
    row = RowKind("List", separator)
    spelling = Spelling(lambda unit: parts if unit == "and(" else [unit], lambda unit, slot: row, separator)
    for count, expected in ((2, 0), (5, min(least, 1)), (20, least)):
        programs = [["and(", *["all"] * size, ")"] for size in [least, *[least + 1] * (count - 1)]]
        in_units = Grammar.parse(infer(programs, UNITS))
        in_words = Grammar.parse(infer(programs, UNITS, spelling=spelling))
        for size in range(5):
            units = ["all"] * size
            words = f" {separator or ''} ".join(units).split()
            assert in_units.accepts(["and(", *units, ")"]) == (size >= expected)
            assert in_words.accepts(["and(", *words, ")"]) == (size >= expected)


def test_a_list_that_is_always_empty_stays_so():
    inferred = grammar(["answer and( )", "answer state all"])
    assert inferred.accepts(["answer", "and(", ")"])
    assert not inferred.accepts(["answer", "and(", "all", ")"])


def test_copied_constants_become_a_class():
    inferred = grammar(copied={"texas", "utah"})
    assert inferred.accepts(["answer", "size", "state", "all", "ohio"], ["how", "large", "is", "ohio"])
    assert not inferred.accepts(["answer", "size", "state", "all", "ohio"], ["how", "large"])


def test_it_can_be_read_by_people():
    text = infer([program.split() for program in PROGRAMS], UNITS)
    assert "Answer -> 'answer' State" in text
    assert "# 6" in text  # counts
    assert text.startswith("# Inferred from 6 programs")


@pytest.mark.parametrize("program", ["answer", "answer state all all", "answer )", "answer and( state all"])
def test_what_is_no_tree_is_refused(program):
    with pytest.raises(GrammarError, match=r"program|list"):
        infer([program.split()], UNITS)


def test_no_programs():
    with pytest.raises(GrammarError, match="no programs"):
        infer([], UNITS)


def test_odd_words_are_quoted():
    odd = UnitSlots({"it's": ".", "|": "."}, ")")
    inferred = Grammar.parse(infer([["it's", "|", "#"], ["it's", "@copy"]], odd))
    assert inferred.accepts(["it's", "|", "#"])


def _random_language(seed):
    """A typed language of our own: for each type, units with the types of their slots."""
    chance = random.Random(seed)
    types = range(4)
    units = {}
    for kind in types:
        units |= {f"{kind}leaf{number}": (kind, ()) for number in range(2)}
        for number in range(3):
            units[f"{kind}node{number}"] = (
                kind,
                tuple(chance.choice(types) for _ in range(chance.randint(1, 3))),
            )
    return units


def _draw(units, kind, chance, depth=0):
    fitting = [unit for unit, (own, slots) in units.items() if own == kind and (depth < 4 or not slots)]
    unit = chance.choice(fitting)
    return [unit, *(part for slot in units[unit][1] for part in _draw(units, slot, chance, depth + 1))]


@pytest.mark.parametrize("seed", range(5))
def test_it_converges_to_the_true_language(seed):
    units, chance = _random_language(seed), random.Random(seed)
    slots_of = UnitSlots({unit: "." * len(slots) for unit, (_, slots) in units.items()}, ")")
    unseen = [_draw(units, 0, chance) for _ in range(100)]
    wrong = []
    for program in unseen:  # exchange a unit for one of another type with as many slots
        place = chance.randrange(len(program))
        own, slots = units[program[place]]
        others = [unit for unit, (kind, some) in units.items() if kind != own and len(some) == len(slots)]
        if others:
            wrong.append([*program[:place], chance.choice(others), *program[place + 1 :]])
    shares = []
    for number in (10, 100, 1000):
        inferred = Grammar.parse(infer([_draw(units, 0, chance) for _ in range(number)], slots_of))
        shares.append(sum(map(inferred.accepts, unseen)))
        assert not any(inferred.accepts(program) and not _is_right(program, units) for program in wrong)
    assert shares == sorted(shares)
    assert shares[-1] == 100


def _is_right(program, units):
    waiting = [0]
    for unit in program:
        if not waiting or units[unit][0] != waiting.pop():
            return False
        waiting += reversed(units[unit][1])
    return not waiting


def test_programs_are_counted():
    rules = Grammar.parse("S -> 'x' | 'y' S | 'z' S S | T\nT : a | b").rules
    # x, a, b; y and one of three; y and nine, z and two of three
    assert count_programs(rules, 3) == [0, 3, 3, 3 + 9]
    assert count_programs(rules, 700)[-1] > 10**308  # larger than any float
