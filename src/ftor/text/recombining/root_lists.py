"""Chained sentences whose programs are items of one list: `all( a b )` becomes `all( a b c )`.

The list is taken off, the items are chained as plain targets are, and the list is put around them again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ftor.text.programs import ProgramError, Programs
from ftor.text.programs.codec import CLOSE_NAME
from ftor.text.programs.nodes import Node
from ftor.text.programs.units import REST, slots
from ftor.text.reading import Pair
from ftor.text.recombining.chaining import Chains
from ftor.text.recombining.kinds import read_nodes


def chained_lists(
    pairs: Sequence[Pair], programs: Programs, count: int, seed: int, iterations: int
) -> list[Pair]:
    """At most `count` pairs with longer lists. Empty if no program is a list."""
    roots = [read_nodes(pair.target, programs)[0] for pair in pairs]
    lists = Counter(root.unit for root in roots if slots(programs.unit(root.unit)) == [REST])
    if not lists:
        return []
    name = lists.most_common(1)[0][0]
    items = {child.node.unit for root in roots if root.unit == name for child in root.children}
    found = (_item(pair, root, name, items) for pair, root in zip(pairs, roots, strict=True))
    inner = [pair for pair in found if pair is not None]
    chained = Chains(inner, iterations, are_trees=True).draw(count, seed) if inner else []
    made = (_wrapped(pair, name, programs) for pair in chained)
    return [pair for pair in made if pair is not None]


def _item(pair: Pair, root: Node, name: str, items: set[str]) -> Pair | None:
    """The pair without the list, or as it is if its program is an item itself."""
    if root.unit == name:
        return replace(pair, target=pair.target[1:-1]) if len(pair.target) > 2 else None
    return pair if root.unit in items else None


def _wrapped(pair: Pair, name: str, programs: Programs) -> Pair | None:
    """The pair with the list around its items, if this is a program in the notation."""
    target = (name, *pair.target, CLOSE_NAME)
    try:
        text = programs.decode(target)
        is_same = tuple(programs.encode(text)) == target  # new neighbours may be one unit
    except ProgramError:
        return None
    return replace(pair, target=target, target_text=text) if is_same else None
