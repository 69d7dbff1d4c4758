"""Lists of training programs that get one more item."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ftor.text.programs.nodes import Node, Units
from ftor.text.reading import Pair
from ftor.text.recombining.grammar_kinds import lists_of
from ftor.text.recombining.parts import Place, Side, neighbours, with_item

OUTLIERS = 0.03
"""The share of the longest lists of training that do not count as usual."""


class GrowingList(NamedTuple):
    """A list of a training program that may get one more item.

    Attributes:
        pair: the pair.
        place: one of the items, beside whose phrase another one may stand.
        heads: the first two tokens of the items.
        sides: where an item may be put in: before and after each item.
        items: the items that have phrases.
    """

    pair: Pair
    place: Place
    heads: frozenset[Units]
    sides: tuple[Side, ...]
    items: list[Place]

    def with_item(self, item: Units, side: Side) -> Units:
        """The target with one more item."""
        return with_item(self.pair.target, item, self.place.separator, side)


def usual_items(trees: Sequence[Sequence[Node]]) -> int:
    """The most items of a list, but for some outliers."""
    counts = sorted((len(one.items) for nodes in trees for one in lists_of(nodes)), reverse=True)
    return counts[int(OUTLIERS * len(counts))] if counts else 0


def growing_lists(
    pair: Pair, nodes: Sequence[Node], places: Sequence[Place], least: int
) -> Iterator[GrowingList]:
    """The lists of a pair with so many items, with each phrase of each item."""
    lists = lists_of(nodes)
    for place in places:
        if place.kind[0] != "item" or len(lists[place.chain].items) < max(least, 1):
            continue
        items = [item.node for item in lists[place.chain].items]
        sides = {
            at: Side(at, later) for item in items for at, later in ((item.start, False), (item.end, True))
        }
        heads = frozenset(pair.target[item.start : item.end][:2] for item in items)
        others = neighbours(places, place.kind, place.chain)
        yield GrowingList(pair, place, heads, tuple(sides.values()), others)
