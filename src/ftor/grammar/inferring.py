"""Infers a grammar from programs: which units fill which slot gives types, and types become rules.

A program is a list of units in prefix order. Each unit has open slots. A slot takes one subtree, or, if it is
a rest slot, any number of subtrees up to the closing unit. Slots that share a filler share a type.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ftor.grammar.reading import COPY, GrammarError, Part, Rule

Generality = Literal["typed", "arity"]
SLOT, REST = ".", "*"
Place = tuple[str, int]
"""A unit and the number of one of its slots."""
START: Place = ("", 0)


@dataclass(frozen=True)
class Language:
    """What is known of the units.

    Attributes:
        slots: the open slots of each unit, each `SLOT` or `REST`. An unknown unit has none.
        close: the unit that ends the subtrees of a rest slot.
    """

    slots: Mapping[str, Sequence[str]]
    close: str

    def fillers(self, program: Sequence[str]) -> list[tuple[Place, str]]:
        """Each slot of a program with the unit that fills it. Raises `GrammarError` if it is not one tree."""
        filled = []
        waiting: list[tuple[Place, str]] = [(START, SLOT)]
        for unit in program:
            if not waiting:
                raise GrammarError(f"units follow the end of the program: {' '.join(program)}")
            place, kind = waiting[-1]
            if unit == self.close:
                if kind != REST:
                    raise GrammarError(f"a list ends where none is open: {' '.join(program)}")
                waiting.pop()
                continue
            if kind == SLOT:
                waiting.pop()
            filled.append((place, unit))
            kinds = self.slots.get(unit, ())
            waiting += [((unit, slot), kinds[slot]) for slot in reversed(range(len(kinds)))]
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
        separator: the word between the subtrees of a rest slot, if any.
    """

    parts: Callable[[str], Sequence[str | int]]
    separator: str | None = None


def infer(
    programs: Iterable[Sequence[str]],
    language: Language,
    generality: Generality = "typed",
    copied: Collection[str] = (),
    spelling: Spelling | None = None,
) -> str:
    """The text of a grammar that accepts every program, to be read by `Grammar.parse`.

    Args:
        programs: the training programs in units.
        language: the slots of the units.
        generality: "typed": slots that share a filler share a type. "arity": every unit fits every slot.
        copied: units without slots that are copied from sources. A type that has one takes `@copy`.
        spelling: writes the rules in words of the notation instead of units.
    """
    types, slots = _Types(), {START: SLOT}
    counts: Counter[tuple[Place, str]] = Counter()
    number = 0
    for program in programs:
        number += 1
        for place, unit in language.fillers(program):
            counts[place, unit] += 1
            slots |= {(unit, slot): kind for slot, kind in enumerate(language.slots.get(unit, ()))}
            if generality == "typed":
                types.fill(place, unit)
    if not number:
        raise GrammarError("no programs to infer a grammar from")
    if generality == "arity":
        for place in slots:
            types.fill(place, "")
    fillers: dict[Place, Counter[str]] = {types.find(place): Counter() for place in slots}
    for (place, unit), count in counts.items():
        fillers[types.find(place)][unit] += count
    start = types.find(START)
    order = sorted(fillers, key=lambda place: (place != start, -fillers[place].total(), place))
    names = _names(order, fillers)
    slot_names = {place: names[types.find(place)] + "List" * (kind == REST) for place, kind in slots.items()}
    units = len({unit for _, unit in counts})
    lines = [f"# Inferred from {number} programs: {len(order)} types, {units} units. Numbers are counts.", ""]
    if start in {types.find(place) for place in slots if place != START}:
        lines += [f"Program -> {names[start]}", ""]
    for place in order:
        alternatives = [
            (_alternative(unit, language, slot_names, spelling), count)
            for unit, count in sorted(fillers[place].items(), key=lambda item: (-item[1], item[0]))
        ]
        copies = sum(count for unit, count in fillers[place].items() if unit in copied)
        lines += _rule(names[place], alternatives + [(COPY, copies)] * (copies > 0))
    for name in sorted({names[types.find(place)] for place, kind in slots.items() if kind == REST}):
        lines += [*_list_rules(name, language.close, spelling), ""]
    return "\n".join(lines).rstrip() + "\n"


def _alternative(
    unit: str, language: Language, slot_names: Mapping[Place, str], spelling: Spelling | None
) -> str:
    parts: Sequence[str | int] = [unit, *range(len(language.slots.get(unit, ())))]
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


def _list_rules(name: str, close: str, spelling: Spelling | None) -> list[str]:
    if spelling is None:
        return [f"{name}List -> {quoted(close)} | {name} {name}List"]
    if spelling.separator is None:
        return [f"{name}List -> () | {name} {name}List"]
    items = f"{name}Items"
    separator = quoted(spelling.separator)
    return [f"{name}List -> () | {items}", f"{items} -> {name} | {name} {separator} {items}"]


def quoted(word: str) -> str:
    """A word as the notation of grammars quotes it."""
    doubled = word.replace("'", "''")
    return f"'{doubled}'"


def _names(order: Sequence[Place], by_type: Mapping[Place, Counter[str]]) -> dict[Place, str]:
    """A name for each type, from the head of its most frequent filler."""
    names: dict[Place, str] = {}
    taken = {"Program"}
    for place in order:
        fillers = by_type[place]
        ranked = sorted(fillers.items(), key=lambda item: (-item[1], item[0]))
        base = next((name for unit, _ in ranked if (name := _camel(unit))), "Type")
        name, number = base, 1
        while taken & {name, f"{name}List", f"{name}Items"}:
            number += 1
            name = f"{base}{number}"
        taken |= {name, f"{name}List", f"{name}Items"}
        names[place] = name
    return names


def _camel(unit: str) -> str:
    """`call SW.filter/4 _ _` gives `Filter`, `en.block.block1` gives `Block`."""
    words = [word for word in unit.split("·") if re.search(r"[^\W\d_]", word)]
    head = next((word for word in words if "." in word), words[0] if words else "")
    last = re.sub(r"/\d+$", "", head).strip(".").rsplit(".", 1)[-1]
    parts = re.findall(r"[^\W\d_]+", last)
    return "".join(part[:1].upper() + part[1:] for part in parts)


def count_programs(rules: Sequence[Rule], longest: int) -> list[float]:
    """How many derivations of 0, 1, … `longest` words a grammar has. A word that is copied counts as one."""
    counts: dict[str, list[float]] = {rule.name: [0.0] * (longest + 1) for rule in rules}
    for length in range(longest + 1):
        settled = False
        while not settled:  # rules of one part depend on counts of the same length
            new = dict.fromkeys(counts, 0.0)
            for rule in rules:
                new[rule.name] += _derivations(rule.parts, counts, length)
            settled = all(counts[name][length] == new[name] for name in new)
            for name, count in new.items():
                counts[name][length] = count
    return counts[rules[0].name]


def _derivations(parts: Sequence[Part], counts: Mapping[str, Sequence[float]], length: int) -> float:
    ways = [1.0] + [0.0] * length
    for part in parts:
        own = counts[part] if isinstance(part, str) else [0.0, float(len(part.words) + part.copy)]
        own = [*own, *[0.0] * (length + 1)]
        ways = [sum(ways[i] * own[n - i] for i in range(n + 1)) for n in range(length + 1)]
    return ways[length]
