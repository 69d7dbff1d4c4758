"""Finds the parts of a pair that have a phrase of their own."""

from collections.abc import Collection, Iterator, Sequence

from ftor.text.linking import Links
from ftor.text.programs.nodes import Node, Units
from ftor.text.recombining.grammar_kinds import GrammarKinds, lists_of
from ftor.text.recombining.kinds import Kinds
from ftor.text.recombining.parts import Form, Kind, Place

FUNCTION_WORDS = 3
"""A phrase has at most so many words before, and after, those that name its part."""


def find_places(
    target: Units, nodes: Sequence[Node], links: Links, kinds: Kinds | GrammarKinds
) -> Iterator[Place]:
    """The parts of a pair, each with each choice of its words.

    Args:
        target: of the pair.
        nodes: those of its tree.
        links: which words its tokens come from.
        kinds: the kinds of subtrees. Only those of units know operators.
    """
    lists = {
        id(item.node): (number, item.separator, len(one.items))
        for number, one in enumerate(lists_of(nodes))
        for item in one.items
        if item.is_item
    }
    for node in nodes:
        kind = kinds.of(target, node)
        form: Form = "item" if id(node) in lists else "subtree"
        modified = kinds.modified(target, node)
        operates = len(modified) > 1 and isinstance(kinds, Kinds)
        chain, separator, items = lists.get(id(node), (node.start, (), 0))
        holes: list[tuple[Kind, int, int, int]] = [((form, kind), chain, node.end, node.end)]
        for number, one in enumerate(modified):
            of: Kind = ("operator", (*kind, str(number))) if operates else ("modifier", kind)
            holes.append((of, kinds.base(one).start, one.start, one.end))
        for of, chain, hole_start, hole_end in holes:
            units = [*range(node.start, hole_start), *range(hole_end, node.end)]
            is_before = None  # grammars say by themselves where a modifier stands
            if isinstance(kinds, Kinds):
                is_before = _is_before(links.words(units), links.words(range(hole_start, hole_end)))
            for phrase in links.phrases(units, FUNCTION_WORDS):
                bounds = node.start, hole_start, hole_end, node.end
                yield Place(of, chain, *bounds, *phrase, separator, is_before, items)


def _is_before(words: Collection[int], others: Collection[int]) -> bool | None:
    """Whether words stand before others. None if there are none, or if some are on either side."""
    if not words or not others:
        return None
    return True if max(words) < min(others) else False if min(words) > max(others) else None
