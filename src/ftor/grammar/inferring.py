"""Infers a grammar from programs: which units fill which slot gives types, and types become rules.

A program is a list of units in prefix order. Each unit has open slots. A slot takes one subtree, or, if it is
a rest slot, any number of subtrees up to the closing unit. Slots that share a filler share a type.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ftor.grammar.reading import COPY, GrammarError, Part, Rule
from ftor.grammar.writing import quoted

Generality = Literal["typed", "union", "arity"]
SLOT, REST = ".", "*"
Place = tuple[str, int]
"""A unit and the number of one of its slots."""
START: Place = ("", 0)
EVERYWHERE: Place = ("", -1)
SURE_LISTS = (5, 20)
"""So many lists must show that a list has at least one item, or at least two."""


@dataclass(frozen=True)
class UnitSlots:
    """The open slots of units.

    Attributes:
        slots: those of each unit, each `SLOT` or `REST`. Any other unit has none.
        close: the unit that ends the subtrees of a rest slot.
        heads: the head of each unit, if a unit has several symbols.
        owners: by slot, the head that it belongs to and which of the head's arguments it is.
    """

    slots: Mapping[str, Sequence[str]]
    close: str
    heads: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[Place, Place] = field(default_factory=dict)

    def of(self, unit: str) -> Sequence[str]:
        """The slots of a unit."""
        return self.slots.get(unit, ())

    def fillers(self, program: Sequence[str], sizes: Counter[tuple[Place, int]]) -> list[tuple[Place, str]]:
        """Each slot of a program with the unit that fills it. Raises `GrammarError` if it is not one tree.

        `sizes` receives how many subtrees each rest slot has.
        """
        filled = []
        waiting: list[tuple[Place, str]] = [(START, SLOT)]
        items = [0]  # of each slot that waits
        for unit in program:
            if not waiting:
                raise GrammarError(f"units follow the end of the program: {' '.join(program)}")
            place, kind = waiting[-1]
            if unit == self.close:
                if kind != REST:
                    raise GrammarError(f"a list ends where none is open: {' '.join(program)}")
                waiting.pop()
                sizes[place, items.pop()] += 1
                continue
            items[-1] += 1
            if kind == SLOT:
                waiting.pop()
                items.pop()
            filled.append((place, unit))
            kinds = self.of(unit)
            waiting += [((unit, slot), kinds[slot]) for slot in reversed(range(len(kinds)))]
            items += [0] * len(kinds)
        if waiting:
            raise GrammarError(f"the program is not finished: {' '.join(program)}")
        return filled


class _Types:
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


@dataclass(frozen=True)
class Spelling:
    """How units are written in the notation of the programs.

    Attributes:
        parts: from a unit, its words, and the number of a slot where the slot stands.
        is_name: from a unit and the number of a rest slot, whether it takes the words of a name.
        separator: the word between the subtrees of other rest slots, if any.
    """

    parts: Callable[[str], Sequence[str | int]]
    is_name: Callable[[str, int], bool]
    separator: str | None = None


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
        copied: units without slots that are copied from sources. A type that has one takes `@copy`.
        spelling: writes the rules in words of the notation instead of units.
    """
    sizes: Counter[tuple[Place, int]] = Counter()
    filled = [units.fillers(program, sizes) for program in programs]
    if not filled:
        raise GrammarError("no programs to infer a grammar from")
    counts = Counter(filler for fillers in filled for filler in fillers)
    used = dict.fromkeys(unit for _, unit in counts)
    slots = {START: SLOT} | {(unit, slot): kind for unit in used for slot, kind in enumerate(units.of(unit))}
    shared = {place: _shared(place, units, generality) for place in slots}
    types = _Types()
    for place, unit in counts:
        types.fill(shared[place], units.heads.get(unit, unit) if generality == "union" else unit)
    type_of = {place: types.find(shared[place]) for place in slots}
    fillers: dict[Place, Counter[str]] = {kind: Counter() for kind in type_of.values()}
    for (place, unit), count in counts.items():
        fillers[type_of[place]][unit] += count
    start = type_of[START]
    order = sorted(fillers, key=lambda place: (place != start, -fillers[place].total(), place))
    names = _names(order, fillers)
    slot_names = {
        place: names[type_of[place]] + _suffix(place, kind, spelling) for place, kind in slots.items()
    }
    lines = [
        f"# Inferred from {len(filled)} programs: {len(order)} types, {len(used)} units. Numbers are counts.",
        "",
    ]
    if start in {type_of[place] for place in slots if place != START}:
        lines += [f"Program -> {names[start]}", ""]
    for place in order:
        alternatives = [
            (_alternative(unit, units, slot_names, spelling), count)
            for unit, count in sorted(fillers[place].items(), key=lambda item: (-item[1], item[0]))
        ]
        copies = sum(count for unit, count in fillers[place].items() if unit in copied)
        lines += _rule(names[place], alternatives + [(COPY, copies)] * (copies > 0))
    lists = {slot_names[place]: type_of[place] for place, kind in slots.items() if kind == REST}
    sizes_of: dict[str, Counter[int]] = {name: Counter() for name in lists}
    for (place, size), count in sizes.items():
        sizes_of[slot_names[place]][size] += count
    for name, place in sorted(lists.items()):
        item = names[place] if fillers[place] else None
        lines += [*_list_rules(name, item, _least(sizes_of[name]), units.close, spelling), ""]
    return "\n".join(lines).rstrip() + "\n"


def _shared(place: Place, units: UnitSlots, generality: Generality) -> Place:
    """The slot whose type a slot has, whatever fills it."""
    if generality == "arity":
        return EVERYWHERE
    return units.owners.get(place, place) if generality == "union" else place


def _suffix(place: Place, kind: str, spelling: Spelling | None) -> str:
    """What a rule for the contents of a slot has after the name of its type."""
    if kind == SLOT:
        return ""
    return "Words" if spelling is not None and spelling.is_name(*place) else "List"


def _alternative(
    unit: str, units: UnitSlots, slot_names: Mapping[Place, str], spelling: Spelling | None
) -> str:
    parts: Sequence[str | int] = [unit, *range(len(units.of(unit)))]
    if spelling is not None:
        parts = spelling.parts(unit)
    return " ".join(quoted(part) if isinstance(part, str) else slot_names[unit, part] for part in parts)


def _rule(name: str, alternatives: Sequence[tuple[str, int]]) -> list[str]:
    if not alternatives:
        return []
    width = max(len(text) for text, _ in alternatives)
    head = f"{name} -> "
    margin = " " * (len(head) - 2) + "| "
    lines = [f"{text:<{width}}  # {count}" for text, count in alternatives]
    return [head + lines[0], *(margin + line for line in lines[1:]), ""]


def _least(sizes: Counter[int]) -> int:
    """The fewest items of lists, at most two, by the sizes of those of training."""
    seen = sum(number <= sizes.total() for number in SURE_LISTS)
    return min(*sizes, seen) if sizes else 0


def _list_rules(name: str, item: str | None, least: int, close: str, spelling: Spelling | None) -> list[str]:
    """The rules of a rest slot with so many items or more. Without an `item`, all lists are empty."""
    end = quoted(close) if spelling is None else "()"
    if item is None:
        return [f"{name} -> {end}"]
    if spelling is None or spelling.separator is None or name.endswith("Words"):
        more = f"{name}Rest" if least else name
        rules = [f"{more} -> {end} | {item} {more}"]
        return [f"{name} -> {' '.join([item] * least)} {more}", *rules] if least else rules
    items = f"{item}Items"
    first = [f"{end} | ", "", f"{item} {quoted(spelling.separator)} "][least]
    return [
        f"{name} -> {first}{items}",
        f"{items} -> {item} | {item} {quoted(spelling.separator)} {items}",
    ]


def _names(order: Sequence[Place], by_type: Mapping[Place, Counter[str]]) -> dict[Place, str]:
    """A name for each type, from the head of its most frequent filler."""
    names: dict[Place, str] = {}
    taken = {"Program"}
    numbers: Counter[str] = Counter()
    for place in order:
        fillers = by_type[place]
        ranked = sorted(fillers.items(), key=lambda item: (-item[1], item[0]))
        base = next((name for unit, _ in ranked if (name := _camel(unit))), "Type")
        name = base
        while taken & _rule_names(name):
            numbers[base] += 1
            name = f"{base}{numbers[base] + 1}"
        taken |= _rule_names(name)
        names[place] = name
    return names


def _rule_names(name: str) -> set[str]:
    """The names of all rules that a type may have."""
    return {name, *(name + more for more in ("List", "ListRest", "Items", "Words", "WordsRest"))}


def _camel(unit: str) -> str:
    """`call SW.filter/4 _ _` gives `Filter`, `en.block.block1` gives `Block`."""
    words = [word for word in unit.split("·") if re.search(r"[^\W\d_]", word)]
    head = next((word for word in words if "." in word), words[0] if words else "")
    last = re.sub(r"/\d+$", "", head).strip(".").rsplit(".", 1)[-1]
    parts = re.findall(r"[^\W\d_]+", last)
    return "".join(part[:1].upper() + part[1:] for part in parts)


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
