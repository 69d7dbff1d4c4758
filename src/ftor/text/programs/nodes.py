"""The subtrees of a program that is written as a sequence of units or tokens."""

from dataclasses import dataclass, field
from typing import NamedTuple

Units = tuple[str, ...]


class Child(NamedTuple):
    """A node and the slot of its parent that it fills.

    Attributes:
        is_item: whether the slot takes any number of subtrees.
        separator: the tokens between two such subtrees.
    """

    slot: int
    is_item: bool
    node: "Node"
    separator: Units = ()


@dataclass
class Node:
    """A subtree of a program: its units are `start` up to `end` of the program's.

    A grammar says the rest: `kind` is the name of its rule, `is_name` whether it is a name that may be
    copied, and `choices` are the positions of its words that are chosen from several. `gaps` has the start
    and the end of each separator of its lists.
    """

    unit: str
    start: int
    end: int = -1
    children: list[Child] = field(default_factory=list)
    kind: str = ""
    is_name: bool = False
    choices: list[int] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)

    def units(self, target: Units) -> Units:
        """Its units."""
        return target[self.start : self.end]
