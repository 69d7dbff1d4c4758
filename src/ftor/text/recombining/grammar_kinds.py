"""Kinds of subtrees and properties of lists, where a user's grammar says what the trees are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from typing import NamedTuple, TypeVar

from ftor.text.programs.nodes import Child, Node, Units

Head = tuple[str, int]
K = TypeVar("K")
USUAL = 0.95
"""What so many of the lists of training have in common, all lists should have."""


class GrammarKinds:
    """Which subtrees are interchangeable: those that the same rules derive."""

    def __init__(self, trees: Sequence[Sequence[Node]]) -> None:
        self._lists = _Lists(trees)

    def of(self, target: Units, node: Node) -> Units:
        """The kind of a subtree."""
        return (node.kind,)

    def base(self, node: Node) -> Node:
        """What is left of a subtree without modifiers."""
        while same := [
            child.node for child in node.children if child.node.kind == node.kind and not child.is_item
        ]:
            node = same[0]
        return node

    def modified(self, target: Units, node: Node) -> list[Node]:
        """The children that a node may modify: those of its own kind, but for items of lists."""
        return [child.node for child in node.children if child.node.kind == node.kind and not child.is_item]

    def fit(self, nodes: Sequence[Node]) -> bool:
        """Whether the lists of a program are like those of training."""
        return self._lists.fit(nodes)

    @property
    def sorts_lists(self) -> bool:
        """Whether items of lists have one order, whatever the order of their phrases."""
        return self._lists.are_sorted()


class List(NamedTuple):
    """A list of a program.

    Attributes:
        head: the unit whose list it is, and the slot that its items fill.
        items: the items.
    """

    head: Head
    items: list[Child]

    @property
    def units(self) -> list[str]:
        """The units of its items."""
        return [item.node.unit for item in self.items]

    @property
    def kind(self) -> str:
        """The kind of its items."""
        return self.items[0].node.kind


def lists_of(nodes: Iterable[Node]) -> list[List]:
    """The lists of a program. A rule such as `'where' Tests 'not' Tests` has two.

    A rule such as `( and Test Tests )` has one item, of the same kind, before the others.
    """
    found = []
    for node in nodes:
        slots = {child.slot: child.node.kind for child in node.children if child.is_item}
        for slot, kind in slots.items():
            items = [
                child
                for child in node.children
                if child.slot == slot or (len(slots) == 1 and child.node.kind == kind)
            ]
            found.append(List((node.unit, slot), items))
    return found


class _Lists:
    """What the lists of training have in common: ends, an order, what comes once, and what is not nested."""

    def __init__(self, trees: Sequence[Sequence[Node]]) -> None:
        self._ends: set[tuple[Head, str, str]] = set()
        self._orders: Counter[tuple[Head, str, str]] = Counter()
        self._orders_of_words: Counter[tuple[str, str, str]] = Counter()
        self._once: Counter[tuple[Head, str]] = Counter()
        self._several: Counter[tuple[Head, str]] = Counter()
        self._lists: Counter[str] = Counter()
        self._nested: Counter[str] = Counter()
        for nodes in trees:
            self._lists.update(node.unit for node in nodes if _has_list(node))
            self._nested.update(_nested(nodes))
            for one in lists_of(nodes):
                head, units = one.head, one.units
                self._ends |= {(head, "first", units[0]), (head, "last", units[-1])}
                self._orders.update((head, *pair) for pair in combinations(units, 2))
                firsts = map(_first_word, units)
                self._orders_of_words.update((one.kind, *pair) for pair in combinations(firsts, 2))
                for label, count in _labels(units).items():
                    (self._several if count > 1 else self._once)[head, label] += 1

    def fit(self, nodes: Sequence[Node]) -> bool:
        """Whether the lists of a program are like those of training."""
        if any(_is_rare(self._nested[head], self._lists[head]) for head in _nested(nodes)):
            return False
        for one in lists_of(nodes):
            head, units = one.head, one.units
            if not {(head, "first", units[0]), (head, "last", units[-1])} <= self._ends:
                return False
            for label, count in _labels(units).items():
                key = head, label
                if count > 1 and _is_rare(self._several[key], self._once[key]):
                    return False
            for first, second in combinations(units, 2):
                usual, other = self._order(one, first, second)
                if usual + other and _is_rare(usual, other):
                    return False
        return True

    def _order(self, one: List, first: str, second: str) -> tuple[int, int]:
        """How often training has two items in this order, and in the other one.

        Items that it never has together below this head are as those of their kind with the same first words.
        """
        if first != second and (counts := _both(self._orders, one.head, first, second)) != (0, 0):
            return counts
        first, second = _first_word(first), _first_word(second)
        return (0, 0) if first == second else _both(self._orders_of_words, one.kind, first, second)

    def are_sorted(self) -> bool:
        """Whether nearly all items stand in the usual order of their first words.

        False if all first words are the same.
        """
        orders = self._orders_of_words
        both = {(kind, *sorted(pair)) for kind, *pair in orders if len(set(pair)) > 1}
        counts = [_both(orders, *keys) for keys in both]
        return bool(counts) and sum(map(max, counts)) >= USUAL * sum(map(sum, counts))


def _both(orders: Counter[tuple[K, str, str]], of: K, one: str, other: str) -> tuple[int, int]:
    """How often two come in this order, and in the other one."""
    return orders[of, one, other], orders[of, other, one]


def _is_rare(count: int, others: int) -> bool:
    return count <= (1 - USUAL) * (count + others)


def _labels(items: Sequence[str]) -> Counter[str]:
    """How often items stand in a list, and how often items with the same first word."""
    return Counter(items) + Counter(_first_word(item) for item in items if " " in item)


def _first_word(item: str) -> str:
    return item.split()[0]


def _nested(nodes: Sequence[Node]) -> list[str]:
    """The heads of lists that stand, at any depth, in a list with the same head."""
    lists = [node for node in nodes if _has_list(node)]
    return [
        inner.unit
        for outer, inner in permutations(lists, 2)
        if inner.unit == outer.unit and outer.start < inner.start and inner.end <= outer.end
    ]


def _has_list(node: Node) -> bool:
    return any(child.is_item for child in node.children)
