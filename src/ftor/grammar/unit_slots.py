"""The slots of units, and what fills them in programs."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ftor.grammar.naming import Place
from ftor.grammar.reading import GrammarError
from ftor.grammar.records import Records

SLOT, REST = ".", "*"
KIND = "\0"
"""Before the number of the kind of an object: in the name of a unit that opens it, and of its keys' slots."""
START: Place = ("", 0)


class Filling(NamedTuple):
    """A slot of a program: its unit, by its place in the program, its number, and the units that fill it."""

    owner: int
    slot: int
    units: list[int]


@dataclass(frozen=True)
class UnitSlots:
    """The open slots of units.

    Attributes:
        slots: those of each unit, each `SLOT` or `REST`. Any other unit has none.
        close: the unit that ends the subtrees of a rest slot.
        heads: the head of each unit, if a unit has several symbols.
        owners: by slot, the head that it belongs to and which of the head's arguments it is.
        titles: the text of each unit's head, if it is a function or a key. By default the units with slots.
        labels: by slot, the text of the function or key that it belongs to, if its unit has one.
        objects: the rest slots of objects.
        keys: the key of each unit that begins with one.
        numbers: the constants that are numbers, if new ones may be copied.
        names: the slots of words of names, if new ones may be copied.
        phrases: the slots of words of names. New names may be shorter than those of training.
    """

    slots: Mapping[str, Sequence[str]]
    close: str
    heads: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[Place, Place] = field(default_factory=dict)
    titles: Mapping[str, str] | None = None
    labels: Mapping[Place, str] = field(default_factory=dict)
    objects: Collection[Place] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    numbers: Collection[str] = ()
    names: Collection[Place] = ()
    phrases: Collection[Place] = ()

    def of(self, unit: str) -> Sequence[str]:
        """The slots of a unit, whatever the kinds of the objects that it opens."""
        return self.slots.get(plain(unit), ())

    def head(self, unit: str) -> str:
        """The head of a unit."""
        return self.heads.get(plain(unit), plain(unit))

    def argument(self, place: Place) -> Place:
        """The head that a slot belongs to, and which of its arguments the slot is."""
        slot = plain(place[0]), place[1]
        return self.owners.get(slot, slot)

    def fillings(self, program: Sequence[str]) -> list[Filling]:
        """Each slot of a program with what fills it. Raises `GrammarError` if it is not one tree."""
        root = Filling(-1, 0, [])
        fillings, waiting = [root], [(root, SLOT)]
        for place, unit in enumerate(program):
            if not waiting:
                raise GrammarError(f"units follow the end of the program: {' '.join(program)}")
            filling, kind = waiting[-1]
            if unit == self.close:
                if kind != REST:
                    raise GrammarError(f"a list ends where none is open: {' '.join(program)}")
                waiting.pop()
                continue
            filling.units.append(place)
            if kind == SLOT:
                waiting.pop()
            opened = [(Filling(place, slot, []), kind) for slot, kind in enumerate(self.of(unit))]
            fillings += [filling for filling, _ in opened]
            waiting += reversed(opened)
        if waiting:
            raise GrammarError(f"the program is not finished: {' '.join(program)}")
        return fillings


def plain(unit: str) -> str:
    """A unit without the kinds of the objects that it opens."""
    return unit.partition(KIND)[0]


class SlotCounts:
    """What fills the slots of programs. Objects of different kinds are opened by different units.

    Attributes:
        fillers: how often each unit fills each slot. The key of an ordered object has a slot of its own.
        sizes: how often each rest slot has how many subtrees.
        records: the kinds of objects.
    """

    def __init__(self, programs: Iterable[Sequence[str]], units: UnitSlots, typed: bool) -> None:
        self.fillers: Counter[tuple[Place, str]] = Counter()
        self.sizes: Counter[tuple[Place, int]] = Counter()
        self._units, self._objects = units, units.objects if typed else ()
        read = [(list(program), units.fillings(program)) for program in programs]
        self.programs = len(read)
        self.records = Records(
            Counter(
                self._keys(program, filling)
                for program, fillings in read
                for filling in fillings
                if self._is_object(program, filling)
            )
        )
        for program, fillings in read:
            self._count(program, fillings)

    def _is_object(self, program: Sequence[str], filling: Filling) -> bool:
        return bool(self._objects) and (program[filling.owner], filling.slot) in self._objects

    def _keys(self, program: Sequence[str], filling: Filling) -> tuple[str, ...]:
        return tuple(self._units.keys[program[unit]] for unit in filling.units)

    def _count(self, program: Sequence[str], fillings: Sequence[Filling]) -> None:
        names = list(program)
        kinds: dict[tuple[int, int], int] = {}  # of ordered objects
        for filling in fillings:
            if self._is_object(program, filling):
                kind = self.records.kind_of(self._keys(program, filling))
                names[filling.owner] += f"{KIND}{kind}"
                if kind >= 0 and self.records.kinds[kind].ordered:
                    kinds[filling.owner, filling.slot] = kind
        for filling in fillings:
            place = START if filling.owner < 0 else (names[filling.owner], filling.slot)
            number = kinds.get((filling.owner, filling.slot))
            if number is None:
                self.fillers.update((place, names[unit]) for unit in filling.units)
                self.sizes[place, len(filling.units)] += 1
                continue
            order = self.records.kinds[number].keys
            for unit, key in zip(filling.units, self._keys(program, filling), strict=True):
                self.fillers[(f"{KIND}{number}", order.index(key)), names[unit]] += 1
