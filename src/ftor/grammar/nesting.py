"""Which functions never stand in an argument of another one, although chance would have put them there.

Programs of `A or B near C` have the union outside. If both functions are frequent and no program has
`( near ( or A B ) C )`, then none should: such a program belongs to no sentence.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping

from ftor.grammar.naming import Place
from ftor.grammar.unit_slots import SLOT, UnitSlots

EXPECTED = 20.0
"""A grammar excludes what chance would have put there so often. Half of its programs may be recombined."""


def is_missing(of_argument: int, of_function: int, total: int, expected: float) -> bool:
    """Whether chance would have put a function at least so often into an argument that never has it.

    Args:
        of_argument: how many functions stand in the argument.
        of_function: how often the function stands in any argument.
        total: how many functions stand in arguments.
        expected: how often.
    """
    return of_argument * of_function >= expected * total > 0


def never_nested(
    counts: Mapping[tuple[Place, str], int], type_of: Mapping[Place, Place], units: UnitSlots
) -> dict[Place, frozenset[str]]:
    """For each slot, the heads of units of its type that may not fill it.

    Only functions with arguments of their own type count, in arguments of each other: other units tell what
    is said, not how it nests. A function is kept out of an argument of its own only if it fills another one,
    so that chains can grow. A list needs no chains.

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
    nested = {(kind, owner) for (kind, (owner, _)), some in seen.items() if owner in some}

    def is_excluded(place: Place, function: str) -> bool:
        kind, argument = type_of[place], units.argument(place)
        if function in seen[kind, argument]:
            return False
        is_chain = function == argument[0] and units.of(place[0])[place[1]] == SLOT
        if is_chain and (kind, function) not in nested:
            return False
        return is_missing(arguments[kind, argument], heads[kind, function], totals[kind], EXPECTED)

    return {
        place: frozenset(one for of, one in functions if of == kind and is_excluded(place, one))
        for place, kind in type_of.items()
        if (kind, units.argument(place)[0]) in functions
    }
