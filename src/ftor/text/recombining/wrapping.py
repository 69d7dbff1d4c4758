"""Wraps whole programs: from `A and B` and `C and D` comes `C and A and B`, with one function more."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from ftor.text.programs.nodes import Node, Units
from ftor.text.reading import Pair
from ftor.text.recombining.parts import Kind, Place

Words = tuple[str, ...]
Frame = tuple[Words | None, Units]
"""Words and units that stay in front: `show me` and `list`. None for words if others go to the end."""


class Wrap(NamedTuple):
    """What is added to a program: its words, and its units before and after those of the program.

    Its kind is that of the part that it is.
    """

    kind: Kind
    words: Words
    before: Units
    after: Units


class Wraps:
    """The wraps that training shows, by their frames.

    A function is one if it has the whole program as an argument, but for a frame, and the words of all that
    it adds stand before those of the program, or after them. The words of the program need not be linked.
    """

    def __init__(self) -> None:
        self._wraps: dict[Frame, list[Wrap]] = defaultdict(list)
        self._pairs: list[tuple[Pair, list[Frame]]] = []

    def add_pair(self, pair: Pair, nodes: Sequence[Node]) -> None:
        """Take a pair whose program may be wrapped."""
        frames: list[Frame] = [((), ()), (None, ())]
        if _has_one_argument(nodes[0]):
            root = pair.target[:1]
            frames += [(None, root), *((pair.source[:end], root) for end in range(1, len(pair.source)))]
        self._pairs.append((pair, frames))

    def add_part(self, pair: Pair, root: Node, place: Place) -> None:
        """Take a part that modifies a subtree, if it is a wrap.

        Args:
            pair: where it stands.
            root: of the program.
            place: where it stands in the pair.
        """
        start, end, first, last = place.start, place.end, place.first, place.last
        if end != len(pair.target) or start > 1 or (start == 1 and not _has_one_argument(root)):
            return
        part = place.part(pair)
        wrap = Wrap(place.kind, part.words, part.before, part.after)
        if last == len(pair.source):
            self._wraps[None, pair.target[:start]].append(wrap)
        elif (first > 0) == (start > 0):
            self._wraps[pair.source[:first], pair.target[:start]].append(wrap)

    def draw(self, random: Random) -> tuple[Pair, Kind, Words, Units, list[int]] | None:
        """A pair, the kind of a wrap, words and units with it, and its seams. None if it has no wrap."""
        pair, frames = random.choice(self._pairs)
        known = [frame for frame in frames if frame in self._wraps]
        if not known:
            return None
        frame = random.choice(known)
        wrap = random.choice(self._wraps[frame])
        at = len(pair.source) if frame[0] is None else len(frame[0])
        words = (*pair.source[:at], *wrap.words, *pair.source[at:])
        start = len(frame[1])
        units = (*pair.target[:start], *wrap.before, *pair.target[start:], *wrap.after)
        return pair, wrap.kind, words, units, [at, at + len(wrap.words)]


def _has_one_argument(node: Node) -> bool:
    return len(node.children) == 1 and not node.children[0].is_item
