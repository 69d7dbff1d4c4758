"""Kinds of subtrees and properties of lists, where a user's grammar says what the trees are."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations

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

    @property
    def sorts_lists(self) -> bool:
        """Whether items of lists have one order, whatever the order of their phrases."""
        return self._lists.are_sorted()


class _Lists:
    """What the lists of training have in common: ends, an order, what comes once, and what is not nested."""

    def __init__(self, trees: Sequence[Sequence[Node]]) -> None:
        self._ends: set[tuple[str, str, str]] = set()
        self._orders: Counter[tuple[str, str, str]] = Counter()
        self._orders_of_words: Counter[tuple[str, str, str]] = Counter()
        self._once: Counter[tuple[str, str]] = Counter()
        self._several: Counter[tuple[str, str]] = Counter()
        self._lists: Counter[str] = Counter()
        self._nested: Counter[str] = Counter()
        for nodes in trees:
            self._lists.update(node.unit for node in nodes if _items(node))
            self._nested.update(_nested(nodes))
            for node in nodes:
                items = _items(node)
                if not items:
                    continue
                head = node.unit
                self._ends |= {(head, "first", items[0]), (head, "last", items[-1])}
                self._orders.update((head, *pair) for pair in combinations(items, 2))
                kind, firsts = list_items(node)[0].kind, map(_first_word, items)
                self._orders_of_words.update((kind, *pair) for pair in combinations(firsts, 2))
                for label, count in _labels(items).items():
                    (self._several if count > 1 else self._once)[head, label] += 1

    def fit(self, nodes: Sequence[Node]) -> bool:
        """Whether the lists of a program are like those of training."""
        if any(_is_rare(self._nested[head], self._lists[head]) for head in _nested(nodes)):
            return False
        for node in nodes:
            items = _items(node)
            if not items:
                continue
            head = node.unit
            if not {(head, "first", items[0]), (head, "last", items[-1])} <= self._ends:
                return False
            for label, count in _labels(items).items():
                key = head, label
                if count > 1 and _is_rare(self._several[key], self._once[key]):
                    return False
            for first, second in combinations(items, 2):
                usual, other = self._order(node, first, second)
                if usual + other and _is_rare(usual, other):
                    return False
        return True

    def _order(self, node: Node, first: str, second: str) -> tuple[int, int]:
        """How often training has two items in this order, and in the other one.

        Items that it never has together below this head are as those of their kind with the same first words.
        """
        kind = list_items(node)[0].kind
        for orders, *keys in (
            (self._orders, node.unit, first, second),
            (self._orders_of_words, kind, _first_word(first), _first_word(second)),
        ):
            of, one, other = keys
            if one != other and (counts := (orders[of, one, other], orders[of, other, one])) != (0, 0):
                return counts
        return 0, 0

    def are_sorted(self) -> bool:
        """Whether nearly all items stand in the usual order of their first words. No if all are the same."""
        orders = self._orders_of_words
        both = {(kind, *sorted(pair)) for kind, *pair in orders if len(set(pair)) > 1}
        counts = [(orders[kind, a, b], orders[kind, b, a]) for kind, a, b in both]
        return bool(counts) and sum(map(max, counts)) >= USUAL * sum(map(sum, counts))


def _is_rare(count: int, others: int) -> bool:
    return count <= (1 - USUAL) * (count + others)


def _labels(items: Sequence[str]) -> Counter[str]:
    """How often items stand in a list, and how often items with the same first word."""
    return Counter(items) + Counter(_first_word(item) for item in items if " " in item)


def _first_word(item: str) -> str:
    return item.split()[0]


def _nested(nodes: Sequence[Node]) -> list[str]:
    """The heads of lists that stand, at any depth, in a list with the same head."""
    lists = [node for node in nodes if _items(node)]
    return [
        inner.unit
        for outer, inner in permutations(lists, 2)
        if inner.unit == outer.unit and outer.start < inner.start and inner.end <= outer.end
    ]


def list_items(node: Node) -> list[Node]:
    """The items of a list. Empty for other nodes.

    A rule such as `( and Test Tests )` has one item, of the same kind, before the others.
    """
    kinds = {child.node.kind for child in node.children if child.is_item}
    return [child.node for child in node.children if child.node.kind in kinds]


def lists_of(node: Node) -> list[list[Node]]:
    """The items of each list of a node. Only a rule such as `'where' Tests 'not' Tests` has two."""
    slots = sorted({child.slot for child in node.children if child.is_item})
    if len(slots) < 2:
        return [list_items(node)] if slots else []
    return [[child.node for child in node.children if child.is_item and child.slot == slot] for slot in slots]


def _items(node: Node) -> list[str]:
    return [item.unit for item in list_items(node)]
