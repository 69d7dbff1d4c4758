"""Names of several words in targets without quotes: words that also stand side by side in the sentence."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

Neighbours = tuple[str, str]

SHARE = 0.5
"""More than this share of the pairs with two words side by side have them so in the source, too."""
LEAST = 2
"""The least number of such pairs."""


def neighbours_in_sources(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> set[Neighbours]:
    """Adjacent words of targets that usually are adjacent, in the same order, in the source of their pair.

    Upper and lower case are the same in sources.

    Args:
        pairs: the words of sources and of targets.
    """
    of_targets, of_both = Counter[Neighbours](), Counter[Neighbours]()
    for source, target in pairs:
        known = set(pairwise(word.lower() for word in source))
        for first, second in set(pairwise(target)):
            of_targets[first, second] += 1
            of_both[first, second] += (first.lower(), second.lower()) in known
    return {both for both, count in of_both.items() if count >= LEAST and count > SHARE * of_targets[both]}


def words_of_names(neighbours: Collection[Neighbours], arities: Mapping[str, int]) -> frozenset[str]:
    """The words of names such as `new york`, which prefix order reads as a chain that ends in a leaf.

    `largest state` is no name if `state` takes an argument.
    """
    words = set[str]()
    size = -1
    while size != (size := len(words)):
        for first, second in neighbours:
            if arities.get(first, 0) == 1 and (second in words or not arities.get(second, 0)):
                words |= {first, second}
    return frozenset(words)
