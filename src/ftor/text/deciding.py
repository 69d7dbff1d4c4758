"""Words beside the one that names a unit, without which its phrase is not whole.

*Deciding* words tell what another word means: `lower` in `lower it by 3`, whose `3` is `-3`. *Companions*
come with a unit that another word names: `route` in `route it to them`, where `to` names `send`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Literal

from ftor.text.programs.units import JOINER
from ftor.text.reading import Pair

LEAST = 6
"""A word must be seen with a unit at least this often."""
DECIDED = 0.95
"""Beside a deciding word, one meaning has at least this share. Over all sentences, no meaning has it."""
COMPANION = 0.98
"""Least share of the pairs with a companion that have its unit."""
RARE = 0.7
"""Units that stand in more than this share of all pairs have no companions: they come with every word."""
Side = Literal["before", "after"]
Positions = Sequence[int | None]
"""For each unit of a pair the position of its word, or None."""


def without_arity(unit: str) -> str:
    """The name that units share if they differ in their number of arguments only."""
    return re.sub(r"/\d+$", "", unit)


def head_of(unit: str) -> str:
    """The name of the first node of a unit."""
    return without_arity(unit.split(JOINER)[0])


def words_beside(
    pairs: Sequence[Pair], linked: Sequence[Positions], functions: Sequence[Sequence[bool]]
) -> list[list[frozenset[int]]]:
    """For each unit of each pair, the positions of its deciding words and companions.

    Args:
        pairs: with targets in units.
        linked: of each pair.
        functions: for each word whether it usually names nothing. Only such words are found.
    """
    both = zip(_deciding(pairs, linked, functions), _companions(pairs, linked, functions), strict=True)
    return [[one | other for one, other in zip(*some, strict=True)] for some in both]


def _deciding(
    pairs: Sequence[Pair], linked: Sequence[Positions], functions: Sequence[Sequence[bool]]
) -> Iterator[list[frozenset[int]]]:
    meanings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, of in zip(pairs, linked, strict=True):
        for word, unit in {
            (pair.source[at], unit) for at, unit in zip(of, pair.target, strict=True) if at is not None
        }:
            meanings[word][unit] += 1
    ambiguous = {word for word, units in meanings.items() if _is_ambiguous(units)}
    beside: defaultdict[tuple[str, str, Side], Counter[str]] = defaultdict(Counter)
    for pair, of, free in zip(pairs, linked, functions, strict=True):
        for place, at, other, side in _beside(pair, of, free, ambiguous):
            beside[pair.source[at], pair.source[other], side][pair.target[place]] += 1
    decides = {
        key: units.most_common(1)[0][0]
        for key, units in beside.items()
        if units.total() >= LEAST and units.most_common(1)[0][1] >= DECIDED * units.total()
    }
    for pair, of, free in zip(pairs, linked, functions, strict=True):
        found: list[set[int]] = [set() for _ in pair.target]
        for place, at, other, side in _beside(pair, of, free, ambiguous):
            if decides.get((pair.source[at], pair.source[other], side)) == pair.target[place]:
                found[place].add(other)
        yield [frozenset(some) for some in found]


def _is_ambiguous(units: Counter[str]) -> bool:
    often = {unit: count for unit, count in units.items() if count >= LEAST}
    several = len({without_arity(unit) for unit in often}) > 1  # the tree around tells them apart otherwise
    return several and max(often.values()) < DECIDED * units.total()


def _beside(
    pair: Pair, of: Positions, free: Sequence[bool], ambiguous: set[str]
) -> Iterator[tuple[int, int, int, Side]]:
    """The units of ambiguous words, their words, and the other words up to the next ambiguous one."""
    units: defaultdict[int, list[int]] = defaultdict(list)
    for place, at in enumerate(of):
        if at is not None and pair.source[at] in ambiguous:
            units[at].append(place)
    bounds = [-1, *sorted(units), len(pair.source)]
    for (last, at), (_, following) in pairwise(pairwise(bounds)):
        for place in units[at]:
            yield from ((place, at, other, "before") for other in range(last + 1, at) if free[other])
            yield from ((place, at, other, "after") for other in range(at + 1, following) if free[other])


def _companions(
    pairs: Sequence[Pair], linked: Sequence[Positions], functions: Sequence[Sequence[bool]]
) -> Iterator[list[frozenset[int]]]:
    heads = {unit: head_of(unit) for pair in pairs for unit in pair.target}
    with_head, with_word = Counter[str](), Counter[str]()
    together, linked_together, before = (Counter[tuple[str, str]]() for _ in range(3))
    for pair, of, free in zip(pairs, linked, functions, strict=True):
        words = {word: at for at, word in enumerate(pair.source) if free[at]}
        named = {heads[unit]: at for unit, at in zip(pair.target, of, strict=True) if at is not None}
        here = {heads[unit] for unit in pair.target}
        with_word.update(words.keys())
        with_head.update(here)
        together.update(product(words, here))
        linked_together.update(product(words, named))
        before.update((word, head) for word, head in product(words, named) if words[word] < named[head])
    sides: dict[tuple[str, str], bool] = {}
    for (word, head), count in together.items():
        if count < max(LEAST, COMPANION * with_word[word]) or with_head[head] > RARE * len(pairs):
            continue
        share = before[word, head] / max(linked_together[word, head], 1)
        if linked_together[word, head] >= LEAST and not 1 - COMPANION < share < COMPANION:
            sides[word, head] = share > 0.5
    for pair, of, free in zip(pairs, linked, functions, strict=True):
        nearest: dict[tuple[int, str], int] = {}
        for (other, word), (place, at) in product(enumerate(pair.source), enumerate(of)):
            is_before = sides.get((word, heads[pair.target[place]])) if free[other] else None
            if at is not None and is_before is not None and is_before == (other < at):
                known = nearest.get((place, word), other)
                nearest[place, word] = min(known, other, key=lambda one: abs(one - at))
        found: list[set[int]] = [set() for _ in pair.target]
        for (place, _), other in nearest.items():
            found[place].add(other)
        yield [frozenset(some) for some in found]
