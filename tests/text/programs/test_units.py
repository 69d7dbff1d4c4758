"""Joins of units: the same for targets that were learned from as for those that are read later."""

import random

import pytest

from ftor.text.programs import Programs, UnitSettings
from ftor.text.programs.units import LARGEST


def program(depth, chance):
    """An s-expression whose `g` often has the child `a`, so that some pairs are joined and others are not."""
    if depth == 0 or chance.random() < 0.2:
        return chance.choice("aab")
    if chance.random() < 0.5:
        return f"(g {'a' if chance.random() < 0.9 else program(depth - 1, chance)})"
    return f"(f {program(depth - 1, chance)} (h {program(depth - 1, chance)}))"


@pytest.mark.parametrize("share", [0.5, 0.9, 0.98, 2.0])
def test_learned_units_are_those_of_reading_anew(share):
    chance = random.Random(3)
    targets = [f"(top {program(5, chance)} x)" for _ in range(80)]
    learned = Programs.learn(targets, settings=UnitSettings(share, share, 2))
    anew = Programs.from_dict(learned.to_dict())
    for target in targets:
        assert anew.encode(target) == learned.encode(target)
        assert anew.decode(anew.encode(target)) == target
    assert bool(learned.fragments.rounds) == (share < 1)


def test_units_do_not_grow_without_end():
    deep = "".join(f"(f{n} " for n in range(500)) + "a" + ")" * 500
    learned = Programs.learn([deep] * 10)
    assert max(map(len, learned.units.values())) <= LARGEST
    assert 500 / LARGEST < len(learned.encode(deep)) < 50
    assert learned.decode(learned.encode(deep)) == deep
