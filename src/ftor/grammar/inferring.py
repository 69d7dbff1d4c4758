"""Infers a grammar from programs: which units fill which slot gives types, and types become rules.

A program is a list of units in prefix order. Each unit has open slots. A slot takes one subtree, or, if it is
a rest slot, any number of subtrees up to the closing unit. Slots that share a filler share a type. What is
never nested has narrower types: see `nesting`. Objects are rest slots whose subtrees are keys with values.
Those of one kind have the same keys in the same order.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ftor.grammar.naming import START_NAME, Place, RuleNames, camel, type_names
from ftor.grammar.nesting import never_nested
from ftor.grammar.reading import COPY, GrammarError, Part, Rule
from ftor.grammar.records import Keys, Record
from ftor.grammar.unit_slots import KIND, REST, SLOT, START, SlotCounts, UnitSlots, plain
from ftor.grammar.writing import quoted

Generality = Literal["typed", "union", "arity"]
EVERYWHERE: Place = ("", -1)
SURE_LISTS = (5, 20)
"""So many lists must show that a list has at least one item, or at least two."""


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
    found = SlotCounts(programs, units, generality == "typed")
    counts, records = found.fillers, found.records.kinds
    if not found.programs:
        raise GrammarError("no programs to infer a grammar from")
    used = dict.fromkeys(unit for _, unit in counts)
    slots = {START: SLOT} | {(unit, slot): kind for unit in used for slot, kind in enumerate(units.of(unit))}
    ordered = {place: kind for place in slots if (kind := _kind(place, units)) >= 0 and records[kind].ordered}
    slots = {place: kind for place, kind in slots.items() if place not in ordered}
    slots |= {place: SLOT for place, _ in counts if place[0].startswith(KIND)}
    shared = {place: _shared(place, units, generality) for place in slots}
    types = _Types()
    for place, unit in counts:
        types.fill(shared[place], units.heads.get(unit, unit) if generality == "union" else unit)
    type_of = {place: types.find(shared[place]) for place in slots}
    fillers: dict[Place, Counter[str]] = {kind: Counter() for kind in type_of.values()}
    places: dict[Place, Counter[Place]] = {kind: Counter() for kind in type_of.values()}
    for (place, unit), count in counts.items():
        fillers[type_of[place]][unit] += count
        places[type_of[place]][place] += count
    start = type_of[START]
    order = sorted(fillers, key=lambda place: (place != start, -fillers[place].total(), place))
    free = RuleNames()
    names = type_names(order, fillers, places, _titles(used, units), _labels(slots, units), free)
    slot_names = {
        place: names[type_of[place]] + _suffix(place, kind, spelling) for place, kind in slots.items()
    }
    missing = never_nested(counts, type_of, units) if generality == "typed" else {}
    narrow: dict[tuple[Place, frozenset[str]], str] = {}  # types without functions that are never nested
    for place in sorted(place for place, heads in missing.items() if heads and slots[place] == SLOT):
        key = type_of[place], missing[place]
        if key not in narrow:
            narrow[key] = free.free(f"{names[key[0]]}In{camel(_labels([place], units)[place])}")
        slot_names[place] = narrow[key]
    record_names = {kind: free.free(_record_name(records[kind])) for kind in sorted(set(ordered.values()))}
    slot_names |= {place: record_names[kind] for place, kind in ordered.items()}
    unit_count = len({plain(unit) for unit in used})
    lines = [
        f"# Inferred from {found.programs} programs: {len(order)} types, {unit_count} units. "
        "Numbers are counts.",
        "",
    ]
    if start in {type_of[place] for place in slots if place != START}:
        lines += [f"{START_NAME} -> {names[start]}", ""]
    rules = [(names[place], place, frozenset[str]()) for place in order]
    for name, place, without in [*rules, *((name, *key) for key, name in narrow.items())]:
        some = {unit: n for unit, n in fillers[place].items() if units.head(unit) not in without}
        alternatives = [
            (_alternative(unit, units, slot_names, spelling), count)
            for unit, count in sorted(some.items(), key=lambda item: (-item[1], item[0]))
        ]
        copies = sum(count for unit, count in some.items() if unit in copied)
        if without:
            left_out = {_title(unit, units) for unit in fillers[place] if unit not in some}
            lines.append(
                f"# {names[place]} without {', '.join(sorted(left_out))}, which training never has here."
            )
        lines += _rule(name, alternatives + [(COPY, copies)] * (copies > 0))
    lists = {slot_names[place]: type_of[place] for place, kind in slots.items() if kind == REST}
    sizes_of: dict[str, Counter[int]] = {name: Counter() for name in lists}
    for (place, size), count in found.sizes.items():
        if slots[place] == REST:
            sizes_of[slot_names[place]][size] += count
    for name, place in sorted(lists.items()):
        item = names[place] if fillers[place] else None
        lines += [*_list_rules(name, item, _least(sizes_of[name]), units.close, spelling), ""]
    for kind, name in record_names.items():
        keys = [names[type_of[f"{KIND}{kind}", key]] for key in range(len(records[kind].keys))]
        lines += [*_record_rules(name, records[kind], keys, units.close, spelling), ""]
    return "\n".join(lines).rstrip() + "\n"


def _kind(place: Place, units: UnitSlots) -> int:
    """The kind of the object that a slot is. −1 if it is no object, or one without keys."""
    unit, slot = plain(place[0]), place[1]
    if KIND not in place[0] or (unit, slot) not in units.objects:
        return -1
    before = sum((unit, other) in units.objects for other in range(slot))
    return int(place[0].split(KIND)[1 + before])


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


def _shared(place: Place, units: UnitSlots, generality: Generality) -> Place:
    """The slot whose type a slot has, whatever fills it."""
    if generality == "arity":
        return EVERYWHERE
    return units.owners.get(place, place) if generality == "union" else place


def _suffix(place: Place, kind: str, spelling: Spelling | None) -> str:
    """What a rule for the contents of a slot has after the name of its type."""
    if kind == SLOT:
        return ""
    return "Words" if spelling is not None and spelling.is_name(plain(place[0]), place[1]) else "List"


def _alternative(
    unit: str, units: UnitSlots, slot_names: Mapping[Place, str], spelling: Spelling | None
) -> str:
    parts: Sequence[str | int] = [plain(unit), *range(len(units.of(unit)))]
    if spelling is not None:
        parts = spelling.parts(plain(unit))
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
