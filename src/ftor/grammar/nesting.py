"""Which functions never stand in an argument of another one, although chance would have put them there.

Programs of `A or B near C` have the union outside. If both functions are frequent and no program has
`( near ( or A B ) C )`, then none should: such a program belongs to no sentence.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping

from ftor.grammar.naming import Place
from ftor.grammar.unit_slots import UnitSlots

EXPECTED = 5.0
"""A function may not stand where chance would have put it so often, but training never has it."""


def is_missing(of_argument: int, of_function: int, total: int) -> bool:
    """Whether a function that is never in an argument would be there by chance, and so often that it tells.

    Args:
        of_argument: how many functions stand in the argument.
        of_function: how often the function stands in any argument.
        total: how many functions stand in arguments.
    """
    return of_argument * of_function >= EXPECTED * total > 0


def never_nested(
    counts: Mapping[tuple[Place, str], int], type_of: Mapping[Place, Place], units: UnitSlots
) -> dict[Place, frozenset[str]]:
    """For each slot, the heads of units of its type that may not fill it.

    Only functions with arguments of their own type count: other units tell what is said, not how it nests.

    Args:
        counts: how often each unit fills each slot.
        type_of: the type of each slot.
        units: the slots of units, and their heads.
    """
    functions = {
        (type_of[place], units.head(unit))
        for place, unit in counts
        if any(type_of.get((unit, slot)) == type_of[place] for slot in range(len(units.of(unit))))
    }
    arguments, heads, totals = Counter[tuple[Place, Place]](), Counter[tuple[Place, str]](), Counter[Place]()
    seen: dict[tuple[Place, Place], set[str]] = defaultdict(set)
    for (place, unit), count in counts.items():
        kind, function = type_of[place], units.head(unit)
        if (kind, function) in functions:
            arguments[kind, units.argument(place)] += count
            heads[kind, function] += count
            totals[kind] += count
            seen[kind, units.argument(place)].add(function)
    return {
        place: frozenset(
            function
            for of, function in functions
            if of == kind
            and function not in seen[kind, units.argument(place)]
            and is_missing(arguments[kind, units.argument(place)], heads[kind, function], totals[kind])
        )
        for place, kind in type_of.items()
    }
