"""Units by a grammar: the words of a rule are one unit, names are not, and every target comes back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.grammar import Grammar
from ftor.text.programs import ProgramError, UnitSettings
from ftor.text.programs.pairs import read_units
from ftor.text.programs.rules import RuleUnits

GRAMMAR = Grammar.parse("""
Query -> Clause | Clause Query
Clause -> 'COUNT' | 'FILTER' Key Comparison Name | 'SORT' Key Direction | 'TOP' Number
Key : from | to
Comparison : eq | lt
Direction : asc | desc
Name : new york | today
Name -> Copied
Copied -> @copy | @copy Copied
Number : 0..9 | @copy
""")
TARGETS = [
    "FILTER from eq salt lake city COUNT",
    "SORT to asc TOP 3",
    "FILTER to lt new york FILTER from eq today",
]
WORDS = st.sampled_from(
    ["COUNT", "FILTER", "SORT", "TOP", "from", "to", "eq", "lt", "asc", "new", "york", "rome", "3", "·"]
)


def learned(count=1):
    return RuleUnits.learn_rules(TARGETS, GRAMMAR, UnitSettings(count=count))


@pytest.mark.parametrize(
    ("target", "units"),
    [
        (TARGETS[0], "FILTER·from eq salt lake city COUNT"),
        (TARGETS[1], "SORT·to asc TOP 3"),
        (TARGETS[2], "FILTER·to lt new york FILTER·from eq today"),
        ("SORT from asc", "SORT from asc"),  # training lacks the unit
        ("from SORT to asc", "from SORT to asc"),  # the grammar does not derive it
    ],
)
def test_the_words_of_a_rule_are_one_unit(target, units):
    assert learned().encode(target) == units.split()


def test_rare_units_are_left_out():
    assert list(learned(count=2).units) == ["FILTER·from"]


@given(st.lists(WORDS, min_size=1, max_size=8).map(" ".join))
def test_every_target_comes_back(target):
    units = learned()
    again = read_units(json.loads(json.dumps(units.to_dict())))
    assert units.decode(units.encode(target)) == target
    assert again.encode(target) == units.encode(target)


def test_a_token_with_the_name_of_a_unit_is_refused():
    with pytest.raises(ProgramError, match="is the name of a unit"):
        learned().encode("FILTER·from eq rome")


def test_tokens_that_two_words_name_stay_apart():
    units = RuleUnits.learn_rules(TARGETS, GRAMMAR, UnitSettings(count=1), [("SORT", "to")])
    assert units.encode(TARGETS[1]) == ["SORT", "to", "asc", "TOP", "3"]
    assert read_units(json.loads(json.dumps(units.to_dict()))).encode(TARGETS[1]) == units.encode(TARGETS[1])
