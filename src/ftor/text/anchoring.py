"""Links that no separable reordering can follow, moved to words that stay in one place.

In `raise the fan, the lamp and the radio in the den ⇥ up den fan ; up den lamp ; up den radio`, the words
`raise` and `den` write a token for each device, and no separable permutation of copies gives this order. Such
words are *scattered*. All other words are anchors: `fan` can write `up den fan` where the decoder reads the
sentence around it, and then nothing is reordered.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from ftor.ops.arrays import Array
from ftor.text.reading import Pair
from ftor.text.separability import inseparable_blocks

SURE = 0.8
"""Least posterior of a link."""
SHARE, LEAST = 0.1, 3
"""A word is scattered if it is so in this share of its sentences, and in so many."""


def anchored_posteriors(pairs: Sequence[Pair], posteriors: Sequence[Array], first: int) -> list[Array]:
    """Posteriors in which all tokens come from anchors, each from that of the nearest token with one.

    A word that is scattered in some pairs writes nothing in the others, too, so that it is taught alike.
    Pairs without such words, or without anchors, keep their posteriors.

    Args:
        pairs: the pairs.
        posteriors: an array (n, l) for each pair.
        first: the row of the first word. A row of the start token may come before it.
    """
    links = [_links(posterior, first) for posterior in posteriors]
    scattered = _scattered_words(pairs, links)
    if not scattered:
        return list(posteriors)
    anchors = [_anchors(pair, link, scattered) for pair, link in zip(pairs, links, strict=True)]
    sides = Counter[str]()
    for pair, some in zip(pairs, anchors, strict=True):
        for place, token in enumerate(pair.target):
            nearest = _nearest(place, some)
            if len(nearest) == 1:
                sides[token] += 1 if nearest[0] > place else -1
    return [
        _moved(pair, posterior, some, sides, first)
        for pair, posterior, some in zip(pairs, posteriors, anchors, strict=True)
    ]


def _anchors(pair: Pair, link: Sequence[int | None], scattered: set[str]) -> dict[int, int]:
    """The target tokens that come from an anchor, and the number of its word. Empty if nothing is to move."""
    known, torn = {row for row in link if row is not None}, _scattered(link)
    moving = {row for row in known if row in torn or pair.source[row] in scattered}
    if not moving:
        return {}
    return {place: row for place, row in enumerate(link) if row is not None and row not in moving}


def _nearest(place: int, anchors: Collection[int]) -> list[int]:
    """The nearest of the places, or two that are equally near, in order."""
    least = min((abs(other - place) for other in anchors), default=0)
    return sorted(other for other in anchors if abs(other - place) == least)


def _moved(pair: Pair, posterior: Array, anchors: dict[int, int], sides: Counter[str], first: int) -> Array:
    """All tokens come from the anchor of the nearest token that has one.

    Of two that are equally near, it is the one on the side where the token usually has its anchor.
    """
    if not anchors:
        return posterior
    moved = np.zeros_like(posterior)
    for place, token in enumerate(pair.target):
        nearest = _nearest(place, anchors)[-1 if sides[token] > 0 else 0]
        moved[anchors[nearest] + first, place] = 1
    return moved


def _scattered_words(pairs: Sequence[Pair], links: Sequence[Sequence[int | None]]) -> set[str]:
    sentences, found = Counter[str](), Counter[str]()
    for pair, link in zip(pairs, links, strict=True):
        sentences.update(set(pair.source))
        found.update({pair.source[row] for row in _scattered(link)})
    return {word for word, count in found.items() if count >= max(LEAST, SHARE * sentences[word])}


def _scattered(link: Sequence[int | None]) -> set[int]:
    """The words of one pair that write in several places, around or inside what cannot be reordered."""
    known = [row for row in link if row is not None]
    places: dict[int, list[int]] = {}
    for place, row in enumerate(known):
        places.setdefault(row, []).append(place)
    return {
        row
        for block in inseparable_blocks(known)
        for row, some in places.items()
        if some[-1] - some[0] >= len(some) and some[0] < block.end and some[-1] >= block.start
    }


def _links(posterior: Array, first: int) -> list[int | None]:
    """For each target token the number of its word, None if it has none or it is not sure."""
    best, sure = posterior.argmax(0), posterior.max(0) >= SURE
    return [
        int(row) - first if is_sure and row >= first else None
        for row, is_sure in zip(best, sure, strict=True)
    ]
