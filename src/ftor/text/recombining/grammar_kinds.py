"""Kinds of subtrees and properties of lists, where a user's grammar says what the trees are."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from ftor.text.programs.nodes import Node, Units

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


class _Lists:
    """What the lists of training have in common: first and last items, an order, and what comes once."""

    def __init__(self, trees: Sequence[Sequence[Node]]) -> None:
        self._ends: set[tuple[str, str, str]] = set()
        self._orders: Counter[tuple[str, str, str]] = Counter()
        self._once: Counter[tuple[str, str]] = Counter()
        self._several: Counter[tuple[str, str]] = Counter()
        for nodes in trees:
            for node in nodes:
                items = _items(node)
                if not items:
                    continue
                self._ends |= {(node.unit, "first", items[0]), (node.unit, "last", items[-1])}
                self._orders.update((node.unit, *pair) for pair in combinations(items, 2))
                for label, count in _labels(items).items():
                    (self._several if count > 1 else self._once)[node.unit, label] += 1

    def fit(self, nodes: Sequence[Node]) -> bool:
        """Whether the lists of a program are like those of training."""
        for node in nodes:
            items = _items(node)
            if not items:
                continue
            if not {(node.unit, "first", items[0]), (node.unit, "last", items[-1])} <= self._ends:
                return False
            for label, count in _labels(items).items():
                key = node.unit, label
                if count > 1 and _is_rare(self._several[key], self._once[key]):
                    return False
            for first, second in combinations(items, 2):
                usual, other = self._orders[node.unit, first, second], self._orders[node.unit, second, first]
                if usual + other and _is_rare(usual, other):
                    return False
        return True


def _is_rare(count: int, others: int) -> bool:
    return count <= (1 - USUAL) * (count + others)


def _labels(items: Sequence[str]) -> Counter[str]:
    """How often items stand in a list, and how often items with the same first word."""
    return Counter(items) + Counter(item.split()[0] for item in items if " " in item)


def _items(node: Node) -> list[str]:
    return [child.node.unit for child in node.children if child.is_item]
