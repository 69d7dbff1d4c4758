"""Infers a grammar from programs: which units fill which slot gives types, and types become rules.

A program is a list of units in prefix order. Each unit has open slots. A slot takes one subtree, or, if it is
a rest slot, any number of subtrees up to the closing unit. Slots that share a filler share a type. What is
never nested has narrower types: see `nesting`. Objects are rest slots whose subtrees are keys with values.
Those of one kind have the same keys in the same order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from ftor.grammar.inferred_rules import InferredRules, Spelling, Types
from ftor.grammar.naming import Place
from ftor.grammar.nesting import never_nested
from ftor.grammar.reading import GrammarError, Part, Rule
from ftor.grammar.unit_slots import KIND, SLOT, START, SlotCounts, UnitSlots, plain

Generality = Literal["typed", "union", "arity"]
EVERYWHERE: Place = ("", -1)


class _SharedTypes:
    """Places that share a filler are one type: a union-find over places."""

    def __init__(self) -> None:
        self._parents: dict[Place, Place] = {}
        self._by_filler: dict[str, Place] = {}

    def find(self, place: Place) -> Place:
        root = place
        while (parent := self._parents.setdefault(root, root)) != root:
            root = parent
        while self._parents[place] != root:
            self._parents[place], place = root, self._parents[place]
        return root

    def fill(self, place: Place, unit: str) -> None:
        first, other = self.find(place), self.find(self._by_filler.setdefault(unit, place))
        self._parents[max(first, other)] = min(first, other)


def infer(
    programs: Iterable[Sequence[str]],
    units: UnitSlots,
    generality: Generality = "typed",
    copied: Collection[str] = (),
    spelling: Spelling | None = None,
) -> str:
    """The text of a grammar that accepts every program, to be read by `Grammar.parse`.

    Args:
        programs: the training programs in units.
        units: the slots of the units.
        generality: how many slots share a type. "typed": slots that share a filler. "union": the same, but
            by heads: all slots that are the same argument of the same head share a type, and all units with
            the same head fill it. "arity": all slots, so that every unit fits everywhere.
        copied: units without slots that are copied from sources. A type that has one takes `@copy`, and so
            does one of the numbers or names of `units`.
        spelling: writes the rules in words of the notation instead of units.
    """
    found = SlotCounts(programs, units, generality == "typed")
    if not found.programs:
        raise GrammarError("no programs to infer a grammar from")
    return InferredRules(_types(found, units, generality), found, units, spelling).text(copied)


def _types(found: SlotCounts, units: UnitSlots, generality: Generality) -> Types:
    """The type of each slot of the units that programs have."""
    counts, records = found.fillers, found.records.kinds
    used = dict.fromkeys(unit for _, unit in counts)
    slots = {START: SLOT} | {(unit, slot): kind for unit in used for slot, kind in enumerate(units.of(unit))}
    ordered = {place: kind for place in slots if (kind := _kind(place, units)) >= 0 and records[kind].ordered}
    slots = {place: kind for place, kind in slots.items() if place not in ordered}
    slots |= {place: SLOT for place, _ in counts if place[0].startswith(KIND)}
    shared = {place: _shared(place, units, generality) for place in slots}
    types = _SharedTypes()
    for place, unit in counts:
        types.fill(shared[place], units.heads.get(unit, unit) if generality == "union" else unit)
    type_of = {place: types.find(shared[place]) for place in slots}
    missing = never_nested(counts, type_of, units) if generality == "typed" else {}
    return Types(counts, slots, type_of, ordered, missing)


def _kind(place: Place, units: UnitSlots) -> int:
    """The kind of the object that a slot is. −1 if it is no object, or one without keys."""
    unit, slot = plain(place[0]), place[1]
    if KIND not in place[0] or (unit, slot) not in units.objects:
        return -1
    before = sum((unit, other) in units.objects for other in range(slot))
    return int(place[0].split(KIND)[1 + before])


def _shared(place: Place, units: UnitSlots, generality: Generality) -> Place:
    """The slot whose type a slot has, whatever fills it."""
    if generality == "arity":
        return EVERYWHERE
    return units.owners.get(place, place) if generality == "union" else place


def count_programs(rules: Sequence[Rule], longest: int) -> list[int]:
    """How many derivations of 0, 1, … `longest` words a grammar has. A word that is copied counts as one."""
    counts = {rule.name: [0] * (longest + 1) for rule in rules}
    ways = [[[0] * (longest + 1) for _ in range(len(rule.parts) + 1)] for rule in rules]
    for row in ways:  # by the number of parts and of words
        row[0][0] = 1
    for length in range(longest + 1):
        settled = False
        while not settled:  # rules of one part depend on counts of the same length
            new = dict.fromkeys(counts, 0)
            for rule, row in zip(rules, ways, strict=True):
                for number, part in enumerate(rule.parts):
                    row[number + 1][length] = _derivations(row[number], part, counts, length)
                new[rule.name] += row[-1][length]
            settled = all(counts[name][length] == count for name, count in new.items())
            for name, count in new.items():
                counts[name][length] = count
    return counts[rules[0].name]


def _derivations(before: Sequence[int], part: Part, counts: Mapping[str, Sequence[int]], length: int) -> int:
    """In how many ways parts, counted by length in `before`, and one more have `length` words."""
    if isinstance(part, str):
        return sum(before[i] * counts[part][length - i] for i in range(length + 1) if before[i])
    return before[length - 1] * (len(part.words) + part.copy) if length else 0
