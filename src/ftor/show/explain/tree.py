"""A reordering tree as lines of text, readable also when it is large."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from ftor.trees import SYMBOLS, Node, PermutationTree

MEANINGS = ("keep", "swap")
STYLES = ("cyan", "bold magenta")
LEAVES_WIDTH = 30  # columns that the indentation leaves to a line's content


class _Inner(NamedTuple):
    inverted: int
    parts: list[_Part]


_Part = _Inner | list[str]  # a list is a run of leaves


def draw_tree(tree: PermutationTree, labels: Sequence[str], width: int) -> Iterator[Text]:
    """Yield the tree's lines: a node with its first leaves, then its other parts, indented.

    A child of the same kind as its parent is not drawn: its parts become the parent's, with the same outcome.
    What is too deep for the width is drawn below, on its own.
    """
    waiting = deque([("", _merged(tree, labels))])
    number = 0
    while waiting:
        title, root = waiting.popleft()
        stack = [(Text(title), " " * len(title), root)]
        while stack:
            line, indent, part = stack.pop()
            if isinstance(part, list):
                yield from _wrapped(line, indent, part, width)
            elif len(indent) > max(width - LEAVES_WIDTH, len(title) + 10):
                number += 1
                waiting.append((f"({number}) ", part))
                yield line.append(f"continued as ({number})")
            else:
                leaves, others = _divided(part)
                line.append(f"{SYMBOLS[part.inverted]} {MEANINGS[part.inverted]}", STYLES[part.inverted])
                if leaves:
                    line.append("  ")
                below = indent + ("│ " if others else "  ")
                yield from _wrapped(line, below.ljust(line.cell_len), leaves, width)
                for place, other in enumerate(reversed(others)):
                    corner, below = ("├─", "│ ") if place else ("└─", "  ")
                    stack.append((Text(indent + corner), indent + below, other))


def _merged(tree: PermutationTree, labels: Sequence[str]) -> _Part:
    def join(node: Node, left: _Part, right: _Part) -> _Part:
        parts: list[_Part] = []
        for child in (left, right):
            new = child.parts if isinstance(child, _Inner) and child.inverted == node.inverted else [child]
            for part in new:
                if parts and isinstance(part, list) and isinstance(parts[-1], list):
                    parts[-1] = parts[-1] + part
                else:
                    parts.append(part)
        return _Inner(node.inverted, parts)

    leaves: list[_Part] = [[label] for label in labels]
    return tree.fold(leaves, join)


def _divided(part: _Inner) -> tuple[list[str], list[_Part]]:
    """The leaves that the part begins with, and the rest."""
    first = part.parts[0]
    return (first, part.parts[1:]) if isinstance(first, list) else ([], part.parts)


def _wrapped(line: Text, indent: str, leaves: list[str], width: int) -> Iterator[Text]:
    """Yield `line` with the leaves behind it, on several lines if the width demands it."""
    empty = True
    for leaf in leaves:
        if not empty and line.cell_len + 1 + cell_len(leaf) > width:
            yield line
            line, empty = Text(indent), True
        line.append(leaf if empty else f" {leaf}")
        empty = False
    yield line
