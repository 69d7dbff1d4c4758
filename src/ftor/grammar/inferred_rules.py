"""Writes the rules of inferred grammars: of types, lists and objects, in units or in words."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ftor.grammar.naming import START_NAME, Place, RuleNames, camel, type_names
from ftor.grammar.reading import COPY
from ftor.grammar.records import Keys, Record
from ftor.grammar.unit_slots import KIND, REST, SLOT, START, SlotCounts, UnitSlots, plain
from ftor.grammar.writing import quoted

SURE_LISTS = (5, 20)
"""So many lists must show that a list has at least one item, or at least two."""


class RowKind(NamedTuple):
    """How the subtrees of a rest slot are written in the notation of the programs.

    Attributes:
        name: what the name of its rule ends with.
        separator: the word between two of them, if any.
    """

    name: str
    separator: str | None = None


WORDS = RowKind("Words")
"""The words of a name."""


@dataclass(frozen=True)
class Spelling:
    """How units are written in the notation of the programs.

    Attributes:
        parts: from a unit, its words, and the number of a slot where the slot stands.
        row: from a unit and the number of a rest slot, how it is written.
        separator: the word between the keys of an object, if any.
    """

    parts: Callable[[str], Sequence[str | int]]
    row: Callable[[str, int], RowKind]
    separator: str | None = None


class Types:
    """The types of slots.

    Attributes:
        slots: each slot that has a type, `SLOT` or `REST`.
        type_of: its type, named by one place that stands for all that share it.
        ordered: the slots of objects whose keys have an order, each with its kind of objects.
        missing: for some slots, the heads that never stand there, although others of the type do.
        fillers: the units of each type, with their counts.
        places: the slots of each type, with the counts of what fills them.
        order: the types as they are written: the start, then the most frequent.
    """

    def __init__(
        self,
        counts: Mapping[tuple[Place, str], int],
        slots: Mapping[Place, str],
        type_of: Mapping[Place, Place],
        ordered: Mapping[Place, int],
        missing: Mapping[Place, frozenset[str]],
    ) -> None:
        self.slots, self.type_of, self.ordered, self.missing = slots, type_of, ordered, missing
        self.fillers: dict[Place, Counter[str]] = {kind: Counter() for kind in type_of.values()}
        self.places: dict[Place, Counter[Place]] = {kind: Counter() for kind in type_of.values()}
        for (place, unit), count in counts.items():
            self.fillers[type_of[place]][unit] += count
            self.places[type_of[place]][place] += count
        start = type_of[START]
        self.order = sorted(
            self.fillers, key=lambda place: (place != start, -self.fillers[place].total(), place)
        )

    @property
    def used(self) -> dict[str, None]:
        """The units that fill slots."""
        return dict.fromkeys(unit for counts in self.fillers.values() for unit in counts)

    @property
    def start_is_nested(self) -> bool:
        """Whether a slot has the type of whole programs."""
        return any(kind == self.type_of[START] for place, kind in self.type_of.items() if place != START)


class InferredRules:
    """The rules of a grammar, by its types."""

    def __init__(self, types: Types, found: SlotCounts, units: UnitSlots, spelling: Spelling | None) -> None:
        self._types, self._found, self._units, self._spelling = types, found, units, spelling
        slots, type_of = types.slots, types.type_of
        free = RuleNames()
        titles, labels = _titles(types.used, units), _labels(slots, units)
        self._names = type_names(types.order, types.fillers, types.places, titles, labels, free)
        self._slot_names = {
            place: self._names[type_of[place]] + _suffix(place, kind, spelling)
            for place, kind in slots.items()
        }
        self._narrow: dict[tuple[Place, frozenset[str]], str] = {}  # types without what is never nested
        for place in sorted(place for place, heads in types.missing.items() if heads):
            key = type_of[place], types.missing[place]
            if key not in self._narrow:
                self._narrow[key] = free.free(f"{self._names[key[0]]}In{camel(labels[place])}")
            self._slot_names[place] = self._narrow[key] + _suffix(place, slots[place], spelling)
        kinds = sorted(set(types.ordered.values()))
        self._objects = {kind: free.free(_record_name(found.records.kinds[kind])) for kind in kinds}
        self._slot_names |= {place: self._objects[kind] for place, kind in types.ordered.items()}

    def text(self, copied: Collection[str]) -> str:
        """All rules. Types of copied units take `@copy`."""
        lines = [*self._start(), *self._type_rules(copied), *self._list_rules(), *self._object_rules()]
        return "\n".join(lines).rstrip() + "\n"

    def _start(self) -> list[str]:
        types = self._types
        units = len({plain(unit) for unit in types.used})
        lines = [
            f"# Inferred from {self._found.programs} programs: {len(types.order)} types, {units} units. "
            "Numbers are counts.",
            "",
        ]
        if types.start_is_nested:
            lines += [f"{START_NAME} -> {self._names[types.type_of[START]]}", ""]
        return lines

    def _type_rules(self, copied: Collection[str]) -> list[str]:
        lines: list[str] = []
        rules = [(self._names[place], place, frozenset[str]()) for place in self._types.order]
        for name, place, without in [*rules, *((name, *key) for key, name in self._narrow.items())]:
            fillers = self._types.fillers[place]
            some = {unit: n for unit, n in fillers.items() if self._units.head(unit) not in without}
            if without:
                left_out = {_title(unit, self._units) for unit in fillers if unit not in some}
                lines.append(
                    f"# {self._names[place]} without {', '.join(sorted(left_out))}, "
                    "which training never has here."
                )
            alternatives = [
                (self._alternative(unit), count)
                for unit, count in sorted(some.items(), key=lambda item: (-item[1], item[0]))
            ]
            copies = sum(count for unit, count in some.items() if unit in copied)
            takes_copies = copies > 0 or self._is_open(place)
            lines += _rule(name, alternatives + [(COPY, copies)] * takes_copies)
        return lines

    def _is_open(self, place: Place) -> bool:
        """Whether new constants of a type are like those of training: numbers, or words of names."""
        types, units = self._types, self._units
        constants = [unit for unit in types.fillers[place] if not units.of(unit)]
        is_number = bool(constants) and all(unit in units.numbers for unit in constants)
        return is_number or any((plain(unit), slot) in units.names for unit, slot in types.places[place])

    def _alternative(self, unit: str) -> str:
        parts: Sequence[str | int] = [plain(unit), *range(len(self._units.of(unit)))]
        if self._spelling is not None:
            parts = self._spelling.parts(plain(unit))
        names = self._slot_names
        return " ".join(quoted(part) if isinstance(part, str) else names[unit, part] for part in parts)

    def _list_rules(self) -> list[str]:
        types = self._types
        rests = [place for place, kind in types.slots.items() if kind == REST]
        lists = {self._slot_names[place]: place for place in rests}
        sizes: dict[str, Counter[int]] = {name: Counter() for name in lists}
        for (place, size), count in self._found.sizes.items():
            if types.slots[place] == REST:
                sizes[self._slot_names[place]][size] += count
        separators = {self._slot_names[place]: _separator(place, self._spelling) for place in rests}
        phrases = {
            self._slot_names[unit, at] for unit, at in rests if (plain(unit), at) in self._units.phrases
        }
        end = quoted(self._units.close) if self._spelling is None else "()"
        lines: list[str] = []
        for name, place in sorted(lists.items()):
            kind = types.type_of[place]
            name_of_item = self._narrow.get((kind, types.missing.get(place, frozenset())), self._names[kind])
            item = name_of_item if types.fillers[kind] else None
            least = 1 if name in phrases else 2
            rules = _list_rules(name, item, min(_least(sizes[name]), least), end, separators[name])
            lines += [*rules, ""]
        return lines

    def _object_rules(self) -> list[str]:
        lines: list[str] = []
        for kind, name in self._objects.items():
            record = self._found.records.kinds[kind]
            slots = [(f"{KIND}{kind}", key) for key in range(len(record.keys))]
            keys = [self._names[self._types.type_of[slot]] for slot in slots]
            lines += [*_record_rules(name, record, keys, self._units.close, self._spelling), ""]
        return lines


def _titles(used: Iterable[str], units: UnitSlots) -> dict[str, str]:
    """The text of the head of each unit that has one."""
    if units.titles is None:
        return {unit: unit for unit in used if units.of(unit)}
    return {unit: units.titles.get(plain(unit), "") for unit in used}


def _title(unit: str, units: UnitSlots) -> str:
    """The text of the head of a unit, or the unit."""
    return (units.titles or {}).get(plain(unit)) or plain(unit)


def _labels(places: Iterable[Place], units: UnitSlots) -> dict[Place, str]:
    """The text of the head that each slot belongs to, if its unit has one."""
    return {(unit, slot): units.labels.get((plain(unit), slot), "") for unit, slot in places}


def _record_name(record: Record) -> str:
    """From its first required key, or else its first one."""
    first = next((key for key in record.keys if key in record.required), record.keys[0])
    return f"{camel(first)}Object"


def _suffix(place: Place, kind: str, spelling: Spelling | None) -> str:
    """What a rule for the contents of a slot has after the name of its type."""
    if kind == SLOT:
        return ""
    return "List" if spelling is None else spelling.row(plain(place[0]), place[1]).name


def _separator(place: Place, spelling: Spelling | None) -> str | None:
    return None if spelling is None else spelling.row(plain(place[0]), place[1]).separator


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


def _list_rules(name: str, item: str | None, least: int, end: str, separator: str | None) -> list[str]:
    """The rules of a rest slot with so many items or more. Without an `item`, all lists are empty."""
    if item is None:
        return [f"{name} -> {end}"]
    if separator is None:
        more = f"{name}Rest" if least else name
        rules = [f"{more} -> {end} | {item} {more}"]
        return [f"{name} -> {' '.join([item] * least)} {more}", *rules] if least else rules
    items = f"{name}Items"
    first = [f"{end} | ", "", f"{item} {quoted(separator)} "][least]
    return [
        f"{name} -> {first}{items}",
        f"{items} -> {item} | {item} {quoted(separator)} {items}",
    ]


def _record_rules(
    name: str, record: Record, keys: Sequence[str], close: str, spelling: Spelling | None
) -> list[str]:
    """The rules of an object with at least one key. `keys` are the names of the types of its keys."""
    separator = f"{quoted(spelling.separator)} " if spelling is not None and spelling.separator else ""
    end = quoted(close) if spelling is None else "()"
    types = dict(zip(record.keys, keys, strict=True))
    rests: dict[tuple[Keys, ...], str] = {}  # by the groups of keys that may still come
    waiting: list[tuple[Keys, ...]] = []

    def rest(groups: tuple[Keys, ...]) -> str:
        if groups not in rests:
            rests[groups] = f"{name}Rest{len(rests) + 1}"
            waiting.append(groups)
        return rests[groups]

    def first_keys(groups: tuple[Keys, ...]) -> list[str]:
        others = {key: tuple(other for other in groups[0] if other != key) for key in groups[0]}
        return [
            f"{types[key]} {rest((left, *groups[1:]) if left else groups[1:])}"
            for key, left in others.items()
        ]

    starts: list[str] = []
    for number, group in enumerate(record.groups):
        starts += first_keys(record.groups[number:])
        if record.required.intersection(group):
            break
    rules = [f"{name} -> {' | '.join(starts)}"]
    for groups in waiting:  # which grows
        choices = [separator + text for text in first_keys(groups)] if groups else [end]
        if groups and record.required.isdisjoint(groups[0]):
            choices.append(rest(groups[1:]))
        rules.append(f"{rests[groups]} -> {' | '.join(choices)}")
    return rules
