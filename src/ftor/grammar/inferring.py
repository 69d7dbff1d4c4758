"""Infers a grammar from programs: which units fill which slot gives types, and types become rules.

A program is a list of units in prefix order. Each unit has open slots. A slot takes one subtree, or, if it is
a rest slot, any number of subtrees up to the closing unit. Slots that share a filler share a type.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ftor.grammar.reading import COPY, GrammarError

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


def infer(
    programs: Iterable[Sequence[str]],
    language: Language,
    generality: Generality = "typed",
    copied: Collection[str] = (),
) -> str:
    """The text of a grammar that accepts every program, to be read by `Grammar.parse`.

    Args:
        programs: the training programs in units.
        language: the slots of the units.
        generality: "typed": slots that share a filler share a type. "arity": every unit fits every slot.
        copied: units without slots that are copied from sources. A type that has one takes `@copy`.
    """
    types = _Types()
    places: dict[Place, str] = {START: SLOT}
    counts: Counter[tuple[Place, str]] = Counter()
    number = 0
    for program in programs:
        number += 1
        for place, unit in language.fillers(program):
            counts[place, unit] += 1
            for slot, kind in enumerate(language.slots.get(unit, ())):
                places[unit, slot] = kind
            if generality == "typed":
                types.fill(place, unit)
    if not number:
        raise GrammarError("no programs to infer a grammar from")
    if generality == "arity":
        for place in places:
            types.fill(place, "")
    by_type: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    for (place, unit), count in counts.items():
        by_type[types.find(place)][unit] += count
    for place in places:  # a slot that only ever held empty lists has a type, too
        by_type.setdefault(types.find(place), Counter())
    start = types.find(START)
    order = [
        start,
        *sorted((place for place in by_type if place != start), key=lambda p: (-by_type[p].total(), p)),
    ]
    names = _names(order, by_type)
    rests = sorted({names[types.find(place)] for place, kind in places.items() if kind == REST})
    units = len({unit for _, unit in counts})
    lines = [f"# Inferred from {number} programs: {len(order)} types, {units} units. Numbers are counts.", ""]
    if start in {types.find(place) for place in places if place != START}:
        lines += [f"Program -> {names[start]}", ""]
    for place in order:
        lines += _rule(
            names[place], by_type[place], language, lambda p: names[types.find(p)], frozenset(copied)
        )
    for name in rests:
        lines += [f"{name}List -> {quoted(language.close)} | {name} {name}List", ""]
    return "\n".join(lines).rstrip() + "\n"


def _rule(
    name: str,
    fillers: Counter[str],
    language: Language,
    type_of: Callable[[Place], str],
    copied: frozenset[str],
) -> list[str]:
    alternatives = []
    for unit, count in sorted(fillers.items(), key=lambda item: (-item[1], item[0])):
        kinds = language.slots.get(unit, ())
        slots = [type_of((unit, slot)) + ("List" if kind == REST else "") for slot, kind in enumerate(kinds)]
        alternatives.append((" ".join([quoted(unit), *slots]), count))
    if copied & fillers.keys():
        alternatives.append((COPY, sum(count for unit, count in fillers.items() if unit in copied)))
    if not alternatives:
        return []
    width = max(len(text) for text, _ in alternatives)
    head = f"{name} -> "
    margin = " " * (len(head) - 2) + "| "
    return [
        *(
            f"{margin if row else head}{text:<{width}}  # {count}"
            for row, (text, count) in enumerate(alternatives)
        ),
        "",
    ]


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
        while name in taken or (name.endswith("List") and name[:-4] in taken):
            number += 1
            name = f"{base}{number}"
        taken |= {name, f"{name}List"}
        names[place] = name
    return names


def _camel(unit: str) -> str:
    """`call SW.filter/4 _ _` gives `Filter`, `en.block.block1` gives `Block`."""
    words = [word for word in unit.split("·") if re.search(r"[^\W\d_]", word)]
    head = next((word for word in words if "." in word), words[0] if words else "")
    last = re.sub(r"/\d+$", "", head).strip(".").rsplit(".", 1)[-1]
    parts = re.findall(r"[^\W\d_]+", last)
    return "".join(part[:1].upper() + part[1:] for part in parts)
