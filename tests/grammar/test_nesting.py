"""Functions that are never nested: precedence and the side of nesting, learned from programs."""

from itertools import product

import pytest

from ftor.grammar import Grammar
from ftor.grammar.inferring import infer
from ftor.grammar.nesting import is_missing
from ftor.grammar.unit_slots import UnitSlots

UNITS = UnitSlots({"list": "..", "or": "..", "near": "..", "big": "."}, "}")
THINGS = [("cup",), ("pot",), ("big", "cup"), ("big", "big", "pot")]
NEAR = [("near", *one, *other) for one, other in product(THINGS, THINGS)]
NEAR += [("near", *one, *other) for one, other in product(THINGS, NEAR[:6])]
EITHER = [("or", *one, *other) for one, other in product([*THINGS, *NEAR[9:16]], [*THINGS, *NEAR[9:16]])]
EITHER += [("or", *one, *other) for one, other in product(THINGS, EITHER[:12])]
PROGRAMS = [("list", *one, "2") for one in (*THINGS, *NEAR, *EITHER)] * 4


@pytest.fixture(scope="module")
def grammar():
    return Grammar.parse(infer(PROGRAMS, UNITS))


def test_training_is_accepted(grammar):
    assert all(grammar.accepts(program) for program in PROGRAMS)


@pytest.mark.parametrize(
    ("program", "is_accepted"),
    [
        ("or cup or pot or big cup near cup pot", True),  # longer than training
        ("near big pot near cup near pot cup", True),
        ("or or cup pot cup", False),
        ("near or cup pot cup", False),
        ("near near cup pot cup", False),
        ("big or cup pot", False),
        ("big near cup pot", False),
        ("near cup or cup pot", False),
    ],
)
def test_functions_nest_as_in_training(grammar, program, is_accepted):
    assert grammar.accepts(["list", *program.split(), "2"]) == is_accepted


def test_narrow_types_are_explained(grammar):
    assert "without or, which training never has here" in grammar.text
    assert "without near, or, which training never has here" in grammar.text


def test_few_programs_exclude_nothing():
    few = [("list", *one, "2") for one in (*THINGS, NEAR[0], EITHER[0])]
    assert Grammar.parse(infer(few, UNITS)).accepts(["list", "near", "or", "cup", "pot", "cup", "2"])


def test_chains_of_two_do_not_exclude_longer_ones():
    short = [("list", *one, "2") for one in EITHER if one.count("or") == 1] * 4
    grammar = Grammar.parse(infer([*PROGRAMS[:24], *short], UNITS))
    assert grammar.accepts(["list", "or", "cup", "or", "pot", "cup", "2"])


def test_verbs_take_what_they_lack_by_chance():
    units = UnitSlots({**UNITS.slots, "show": ".", "hide": "."}, "}")
    programs = [(verb, *one) for verb in ("show", "hide") for one in (*THINGS, *NEAR, *EITHER)]
    grammar = Grammar.parse(infer([one for one in programs if one[:2] != ("hide", "near")], units))
    assert grammar.accepts(["hide", "near", "cup", "pot"])


def test_what_chance_would_have_put_there_is_missing():
    assert is_missing(50, 10, 100, 5)
    assert not is_missing(50, 9, 100, 5)
    assert not is_missing(0, 0, 0, 5)


def test_a_list_in_itself_is_excluded_where_training_has_none():
    units = UnitSlots({"list": ".", "and(": "*", "not": ".", "or(": "*"}, ")")
    one = [("cup",), ("pot",), ("not", "or(", "cup", "pot", ")"), ("or(", "pot", "cup", ")")]
    both = [("and(", *first, *second, ")") for first, second in product(one, one)]
    grammar = Grammar.parse(infer([("list", *some) for some in (*one, *both)] * 8, units))
    for program, is_accepted in (
        ("list and( cup not or( cup pot ) or( pot cup ) cup )", True),
        ("list and( cup and( cup pot ) )", False),
    ):
        assert grammar.accepts(program.split()) == is_accepted
