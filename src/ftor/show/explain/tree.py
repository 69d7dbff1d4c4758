"""A reordering tree as lines of text."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from ftor.trees import SYMBOLS, Node, PermutationTree

MEANINGS = ("keep", "swap")
STYLES = ("cyan", "bold magenta")
LEAVES_WIDTH = 30  # columns that are kept free of indentation


class _Inner(NamedTuple):
    inverted: int
    children: list[_Subtree]


_Subtree = _Inner | list[str]  # a list is a run of leaves


def draw_tree(tree: PermutationTree, labels: Sequence[str], width: int) -> Iterator[Text]:
    """Yield the lines of a tree: each node with its first leaves, then its other children, indented.

    A node of the same kind as its parent is merged into it, which does not change the permutation.
    A subtree that is too deep for the width is drawn below.
    """
    waiting = deque([("", _merged(tree, labels))])
    number = 0
    while waiting:
        title, root = waiting.popleft()
        stack = [(Text(title), " " * len(title), root)]
        while stack:
            line, indent, subtree = stack.pop()
            if isinstance(subtree, list):
                yield from _wrapped(line, indent, subtree, width)
            elif len(indent) > max(width - LEAVES_WIDTH, len(title) + 10):
                number += 1
                waiting.append((f"({number}) ", subtree))
                yield line.append(f"continued as ({number})")
            else:
                leaves, others = _divided(subtree)
                line.append(
                    f"{SYMBOLS[subtree.inverted]} {MEANINGS[subtree.inverted]}", STYLES[subtree.inverted]
                )
                if leaves:
                    line.append("  ")
                below = indent + ("│ " if others else "  ")
                yield from _wrapped(line, below.ljust(line.cell_len), leaves, width)
                for place, other in enumerate(reversed(others)):
                    corner, below = ("├─", "│ ") if place else ("└─", "  ")
                    stack.append((Text(indent + corner), indent + below, other))


def _merged(tree: PermutationTree, labels: Sequence[str]) -> _Subtree:
    def join(node: Node, left: _Subtree, right: _Subtree) -> _Subtree:
        children: list[_Subtree] = []
        for child in (left, right):
            new = child.children if isinstance(child, _Inner) and child.inverted == node.inverted else [child]
            for subtree in new:
                if children and isinstance(subtree, list) and isinstance(children[-1], list):
                    children[-1] = children[-1] + subtree
                else:
                    children.append(subtree)
        return _Inner(node.inverted, children)

    leaves: list[_Subtree] = [[label] for label in labels]
    return tree.fold(leaves, join)


def _divided(node: _Inner) -> tuple[list[str], list[_Subtree]]:
    """Return the leaves that a node begins with, and its other children."""
    first = node.children[0]
    return (first, node.children[1:]) if isinstance(first, list) else ([], node.children)


def _wrapped(line: Text, indent: str, leaves: list[str], width: int) -> Iterator[Text]:
    """Yield `line` with the leaves after it, on several lines if the width is too small for one."""
    empty = True
    for leaf in leaves:
        if not empty and line.cell_len + 1 + cell_len(leaf) > width:
            yield line
            line, empty = Text(indent), True
        line.append(leaf if empty else f" {leaf}")
        empty = False
    yield line
