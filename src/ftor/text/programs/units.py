"""Units: fragments of program trees that are written as one output token each.

A unit is a fragment in prefix order with open slots. A symbol with a fixed number of children has that many
slots. A symbol that takes any number of children (a list) has one rest slot: its children follow it, and then
the unit `CLOSE`. `learn_units` joins a unit and the unit in one of its slots while the pair is predictable.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SLOT = "."
REST = "*"
ANY = -1
"""The arity of a list."""
JOINER = "·"
"""Between the parts of a unit's name: a name is one word, in grammars too."""

LARGEST = 100
"""The most parts of a unit. Larger ones would be whole programs, and their rules long to compile."""


class Symbol(NamedTuple):
    """A node without its children. The arity of a list is `ANY`."""

    kind: str
    text: str
    arity: int


Part = Symbol | str
Unit = tuple[Part, ...]
CLOSE: Unit = ()
"""The end of a list."""


def unit_of(symbol: Symbol) -> Unit:
    """The unit of a single node."""
    return (symbol, REST) if symbol.arity == ANY else (symbol, *[SLOT] * symbol.arity)


def slots(unit: Unit) -> list[str]:
    """The open slots of a unit, each `SLOT` or `REST`, in order."""
    return [part for part in unit if isinstance(part, str)]


def owners(unit: Unit) -> list[tuple[Symbol, int]]:
    """For each open slot, the symbol that it belongs to and which of the symbol's children it is."""
    found: list[tuple[Symbol, int]] = []
    waiting: list[list[int]] = []  # of each open symbol: its place, next child, and number of children
    for place, part in enumerate(unit):
        if waiting:
            waiting[-1][1] += 1
        if isinstance(part, Symbol):
            waiting.append([place, 0, abs(part.arity)])  # a rest slot is one child
        else:
            symbol = unit[waiting[-1][0]]
            assert isinstance(symbol, Symbol)
            found.append((symbol, waiting[-1][1] - 1))
        while waiting and waiting[-1][1] == waiting[-1][2]:
            waiting.pop()
    return found


def join(parent: Unit, slot: int, child: Unit) -> Unit:
    """Put a child into a slot of its parent. `slot` counts the open slots from 0."""
    places = [place for place, part in enumerate(parent) if isinstance(part, str)]
    place = places[slot]
    return parent[:place] + child + parent[place + 1 :]


class Tree:
    """A node of a program, shared by all places where the same subtree stands.

    Attributes:
        unit: what is written for it.
        fillers: for each open slot the subtree, or the subtrees of a rest slot.
        count: how often the subtree stands in the programs.
    """

    __slots__ = ("count", "fillers", "unit")

    def __init__(self, unit: Unit, fillers: "list[Tree | tuple[Tree, ...]]") -> None:
        self.unit, self.fillers, self.count = unit, fillers, 0


class Forest:
    """Programs as trees that share equal subtrees."""

    def __init__(self) -> None:
        self.trees: list[Tree] = []
        """Children before their parents."""
        self._known: dict[tuple[object, ...], Tree] = {}
        self._leaves: dict[Symbol, Tree] = {}
        self._units: dict[Symbol, Unit] = {}

    def add(self, symbols: Sequence[tuple[Symbol, int]]) -> Tree:
        """Add a program: in prefix order each symbol and the number of its children."""
        stack: list[Tree] = []
        known, leaves = self._known, self._leaves
        for symbol, children in reversed(symbols):
            if not children:
                tree = leaves.get(symbol)
                if tree is None:
                    tree = leaves[symbol] = self._new(symbol, [])
                stack.append(tree)
                continue
            taken = stack[: -children - 1 : -1]
            del stack[-children:]
            key = (symbol, *map(id, taken))
            tree = known.get(key)
            if tree is None:
                tree = known[key] = self._new(symbol, taken)
            stack.append(tree)
        return stack.pop()

    def _new(self, symbol: Symbol, children: list[Tree]) -> Tree:
        unit = self._units.get(symbol)
        if unit is None:  # equal units are one object, which can be counted without comparing them
            unit = self._units[symbol] = unit_of(symbol)
        tree = Tree(unit, [tuple(children)] if symbol.arity == ANY else list(children))
        self.trees.append(tree)
        return tree


Joins = dict[Unit, tuple[int, dict[Unit, Unit]]]
"""By parent: its slot, and by child the joined unit."""


@dataclass(frozen=True)
class Fragments:
    """Rounds of joins, applied one after the other. No unit is both a parent and a child in one round."""

    rounds: tuple[Joins, ...] = ()

    def apply(self, forest: Forest) -> None:
        """Join the units of the only program of a forest."""
        trees = forest.trees
        root = trees[-1]
        for joins in self.rounds:
            if _apply(trees, joins):
                trees = _used(trees, root)


def _apply(trees: Iterable[Tree], joins: Joins) -> bool:
    """Join units. Says whether there were any."""
    joined = False
    for tree in trees:
        if tree.unit not in joins:
            continue
        slot, children = joins[tree.unit]
        child = tree.fillers[slot]
        if isinstance(child, Tree) and child.unit in children:
            tree.unit = children[child.unit]
            tree.fillers[slot : slot + 1] = child.fillers
            joined = True
    return joined


def _used(trees: Sequence[Tree], root: Tree) -> list[Tree]:
    """The trees that are still written. Of a deep program, those that became parts of units are long."""
    for tree in trees:
        tree.count = 0
    root.count = 1
    for tree in reversed(trees):  # parents before their children
        if tree.count:
            for filler in tree.fillers:
                for child in (filler,) if isinstance(filler, Tree) else filler:
                    child.count = 1
    return [tree for tree in trees if tree.count]


@dataclass(frozen=True)
class UnitSettings:
    """When a pair of units is predictable.

    Attributes:
        share: least share of the parents that have the child in the slot.
        child_share: least share of the children that stand in this slot of this parent. A child that
            predicts its parent is joined too. Above 1: never.
        count: least number of the pairs.
        rounds: most rounds of joins.
    """

    share: float = 0.98
    child_share: float = 0.98
    count: int = 5
    rounds: int = 50


@dataclass
class _Statistics:
    units: Counter[Unit] = field(default_factory=Counter)
    pairs: Counter[tuple[Unit, int, Unit]] = field(default_factory=Counter)


def learn_units(
    forest: Forest, roots: Mapping[Tree, int], settings: UnitSettings, never: frozenset[Unit] = frozenset()
) -> Fragments:
    """Join units in rounds until no pair is predictable. `forest` is changed.

    Args:
        forest: the programs.
        roots: how often each program occurs.
        settings: when a pair is predictable.
        never: units that are not joined with their parents, such as words that are copied from the source.
    """
    rounds: list[Joins] = []
    while len(rounds) < settings.rounds:
        statistics = _count(forest.trees, roots)
        forest.trees = [tree for tree in forest.trees if tree.count]
        joins = _predictable(statistics, settings, never)
        if not joins:
            break
        _apply(forest.trees, joins)
        rounds.append(joins)
    return Fragments(tuple(rounds))


def _count(trees: Sequence[Tree], roots: Mapping[Tree, int]) -> _Statistics:
    for tree in trees:
        tree.count = roots.get(tree, 0)
    units: defaultdict[int, int] = defaultdict(int)  # by the numbers of objects: to hash a unit takes long
    pairs: defaultdict[tuple[int, int, int], int] = defaultdict(int)
    objects: dict[int, Unit] = {}
    for tree in reversed(trees):  # parents before their children
        count = tree.count
        if not count:
            continue
        number = id(tree.unit)
        objects[number] = tree.unit
        units[number] += count
        for slot, filler in enumerate(tree.fillers):
            if type(filler) is Tree:
                filler.count += count
                pairs[number, slot, id(filler.unit)] += count
            else:
                for item in filler:  # type: ignore[union-attr]
                    item.count += count
    statistics = _Statistics()
    for number, count in units.items():
        statistics.units[objects[number]] += count
    for (parent, slot, child), count in pairs.items():
        statistics.pairs[objects[parent], slot, objects[child]] += count
    return statistics


def _predictable(statistics: _Statistics, settings: UnitSettings, never: frozenset[Unit]) -> Joins:
    joins: Joins = {}
    parents, children = set[Unit](), set[Unit]()
    ranked = sorted(statistics.pairs.items(), key=lambda item: (-item[1], repr(item[0])))
    for (parent, slot, child), count in ranked:
        if count < settings.count:
            break
        downward = count >= settings.share * statistics.units[parent]
        upward = count >= settings.child_share * statistics.units[child]
        if not (downward or upward) or parent in children or child in parents or parent == child:
            continue
        if len(parent) + len(child) > LARGEST or child in never:
            continue
        if joins.setdefault(parent, (slot, {}))[0] == slot:
            joins[parent][1][child] = join(parent, slot, child)
            parents.add(parent)
            children.add(child)
    return joins


def flatten(tree: Tree) -> Iterator[Unit]:
    """The units of a tree in the order in which they are written."""
    stack: list[Tree | None] = [tree]
    while stack:
        top = stack.pop()
        if top is None:
            yield CLOSE
            continue
        yield top.unit
        for filler in reversed(top.fillers):
            if isinstance(filler, Tree):
                stack.append(filler)
            else:
                stack += [None, *reversed(filler)]


MISSING = Symbol("atom", "?", 0)
"""Stands in the open slots of a program that is not finished."""


class Unfinished(ValueError):  # noqa: N818
    """Units that do not make one whole tree."""


def unflatten(units: Sequence[Unit], strict: bool = True) -> list[tuple[Symbol, int]]:
    """The symbols of written units in prefix order, each with the number of its children.

    Raises `Unfinished` if the units are not one tree. Unless `strict`, `MISSING` fills the open slots, and
    units that fit nowhere are left out.
    """
    symbols: list[tuple[Symbol, int]] = []
    lists: list[int] = []  # places of the lists whose rest slot is open
    waiting: list[Part] = [SLOT]  # what is still to be written, the next part last

    def write_symbols() -> None:
        while waiting and isinstance(waiting[-1], Symbol):
            symbol = waiting.pop()
            assert isinstance(symbol, Symbol)
            if symbol.arity == ANY:
                lists.append(len(symbols))
            symbols.append((symbol, max(symbol.arity, 0)))

    for unit in units:
        write_symbols()
        if unit == CLOSE:
            if waiting and waiting[-1] == REST:
                waiting.pop()
                lists.pop()
            elif strict:
                raise Unfinished("a list ends where none is open")
            continue
        if not waiting:
            if strict:
                raise Unfinished("units follow the end of the program")
            break
        if waiting[-1] == REST:
            symbol, children = symbols[lists[-1]]
            symbols[lists[-1]] = symbol, children + 1
        else:
            waiting.pop()
        waiting += reversed(unit)
    while waiting:
        write_symbols()
        if waiting:
            if strict:
                raise Unfinished("the program is not finished")
            part = waiting.pop()
            if part == SLOT:
                symbols.append((MISSING, 0))
            else:
                lists.pop()
    return symbols
