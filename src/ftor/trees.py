"""Permutation trees: `(△ (∧ a b) (△ c d))` turns `a b c d` into `d c a b`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")
SYMBOLS = ("∧", "△")  # straight, inverted


class Node(NamedTuple):
    """Span (start, end) cut at `split`; its two parts keep their order, or swap it if `inverted`."""

    start: int
    split: int
    end: int
    inverted: int


@dataclass(frozen=True)
class PermutationTree:
    """A binary tree over positions 0..length−1: ∧ concatenates its children, △ does so in reverse order.

    `nodes` are its inner nodes in preorder.
    """

    length: int
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        if self.length < 1 or len(self.nodes) != self.length - 1:
            raise ValueError(f"nodes: expected length − 1 = {self.length - 1}, found {len(self.nodes)}")

    @property
    def permutation(self) -> tuple[int, ...]:
        """The output position of every input position."""
        output = [0] * self.length
        for place, position in enumerate(self.apply(range(self.length))):
            output[position] = place
        return tuple(output)

    def apply(self, items: Sequence[Item]) -> list[Item]:
        """Return `items` in the tree's output order."""

        def order(node: Node, left: list[Item], right: list[Item]) -> list[Item]:
            return right + left if node.inverted else left + right

        return self.fold([[item] for item in items], order)

    def format(self, items: Sequence[object]) -> str:
        """Write the tree with `items` as its leaves: `(△ (∧ a b) (△ c d))`."""

        def write(node: Node, left: str, right: str) -> str:
            return f"({SYMBOLS[node.inverted]} {left} {right})"

        return self.fold([str(item) for item in items], write)

    def fold(self, leaves: list[Item], join: Callable[[Node, Item, Item], Item]) -> Item:
        """Join the values of children into those of their parents, from the leaves up."""
        if len(leaves) != self.length:
            raise ValueError(f"items: expected {self.length} (the tree's length), found {len(leaves)}")
        spans = {(start, start + 1): leaf for start, leaf in enumerate(leaves)}
        for node in reversed(self.nodes):
            left, right = spans.pop((node.start, node.split)), spans.pop((node.split, node.end))
            spans[node.start, node.end] = join(node, left, right)
        return spans[0, self.length]

    def __str__(self) -> str:
        return self.format(range(self.length))

    @classmethod
    def parse(cls, text: str) -> tuple[PermutationTree, list[str]]:
        """Read a tree and its leaves. Leaves contain neither blanks nor round brackets."""
        words = iter(re.findall(r"[()]|[^\s()]+", text))
        nodes: list[Node] = []
        leaves: list[str] = []
        _read_subtree(words, text, nodes, leaves)
        if (rest := next(words, None)) is not None:
            raise ValueError(f"tree: expected the end after {len(leaves)} leaves, found {rest!r} in {text!r}")
        return cls(len(leaves), tuple(nodes)), leaves


def _read_subtree(words: Iterator[str], text: str, nodes: list[Node], leaves: list[str]) -> None:
    word = next(words, "the end")
    if word != "(":
        if word in (")", "the end", *SYMBOLS):
            raise ValueError(f"tree: expected a leaf or '(', found {word!r} in {text!r}")
        leaves.append(word)
        return
    symbol = next(words, "the end")
    if symbol not in SYMBOLS:
        raise ValueError(f"tree: expected ∧ or △ after '(', found {symbol!r} in {text!r}")
    at, start = len(nodes), len(leaves)
    nodes.append(Node(start, 0, 0, SYMBOLS.index(symbol)))
    _read_subtree(words, text, nodes, leaves)
    split = len(leaves)
    _read_subtree(words, text, nodes, leaves)
    nodes[at] = Node(start, split, len(leaves), SYMBOLS.index(symbol))
    if (bracket := next(words, "the end")) != ")":
        raise ValueError(f"tree: expected ')', found {bracket!r} in {text!r}")
