"""Pairs that a race does not train on: drawn at random, harder than the rest, or made longer."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ftor.text.reading import Pair
from ftor.text.seeds import derived_seed

LEAST_PAIRS = 24
"""Of fewer pairs, none are held out."""
SHARE = 8
"""One of so many pairs is held out at random, and as many because they are hard."""
FEWEST, MOST = 5, 100
"""Pairs that are held out in either way."""
FEWEST_MADE = 10
"""Pairs that are made longer, if so many can be made."""
FREQUENT = 3
"""A combination can be rare only if its parts are at least so frequent."""


@dataclass(frozen=True)
class HeldOut:
    """The numbers of the pairs in each part.

    Attributes:
        train: pairs to train on.
        random: pairs like those of training.
        harder: the longest pairs, and those with rare combinations of frequent words. Targets tell which are
            longest, and sources where most targets are equally long.
    """

    train: list[int]
    random: list[int]
    harder: list[int]


Size = Callable[[Sequence[str]], int]
"""How large a target is."""


def hold_out(
    pairs: Sequence[Pair], seed: int, at_random: bool = True, size: Size = len, copying: bool = False
) -> HeldOut:
    """Hold pairs out of training, so that training still has every word and unit of them.

    Sources that occur several times are not held out.

    Args:
        pairs: sources, and targets in units.
        seed: draws the random pairs.
        at_random: whether pairs are held out at random, too. Not if there are dev pairs.
        size: how large a target is.
        copying: whether all candidates copy. Words that are copied need not be in training.
    """
    if len(pairs) < LEAST_PAIRS:
        return HeldOut(list(range(len(pairs))), [], [])
    count = _count(pairs)
    order = list(range(len(pairs)))
    random.Random(derived_seed((seed, len(pairs)))).shuffle(order)
    stock = _Stock(pairs, copying)
    rare = _rarities(pairs)
    sources, sizes = [len(pair.source) for pair in pairs], [size(pair.target) for pair in pairs]
    longest = _longest(order, sizes, sources)
    harder = stock.take(longest, count // 2)
    if len(longest) < count // 2:  # most targets are equally long
        harder += stock.take(_longest(order, sources, sizes), count // 2 - len(longest))
    harder += stock.take(
        (i for i in sorted(order, key=rare.__getitem__, reverse=True) if rare[i]), count // 2
    )
    drawn = stock.take(order, count) if at_random else []
    out = {*harder, *drawn}
    return HeldOut([i for i in range(len(pairs)) if i not in out], sorted(drawn), sorted(harder))


def longer_pairs(pairs: Sequence[Pair], made: Sequence[Pair], size: Size = len) -> list[Pair]:
    """Those of the recombined pairs `made` that have larger targets than all of `pairs`. Not too many."""
    largest = max(size(pair.target) for pair in pairs)
    return [pair for pair in made if size(pair.target) > largest][: max(_count(pairs) // 2, FEWEST_MADE)]


def _count(pairs: Sequence[Pair]) -> int:
    return min(max(len(pairs) // SHARE, FEWEST), MOST)


def _longest(order: Sequence[int], lengths: Sequence[int], others: Sequence[int]) -> list[int]:
    """Pairs that are longer than the middle one, longest first. At equal lengths the others decide.

    Every other one: training keeps pairs of the kinds that only long pairs have.
    """
    middle = sorted(lengths)[len(lengths) // 2]
    longest = sorted(order, key=lambda i: (lengths[i], others[i]), reverse=True)
    return [i for i in longest[::2] if lengths[i] > middle]


class _Stock:
    """The pairs that are left in training, and how many of them have each word and unit."""

    def __init__(self, pairs: Sequence[Pair], copying: bool) -> None:
        self._needs = [_words(pair, copying) for pair in pairs]
        self._left = Counter(word for words in self._needs for word in words)
        sources = Counter(pair.source for pair in pairs)
        self._fixed = {i for i, pair in enumerate(pairs) if sources[pair.source] > 1}

    def take(self, wanted: Iterable[int], size: int) -> list[int]:
        """The first of the wanted pairs that training can do without, at most `size`."""
        taken: list[int] = []
        for i in wanted:
            if len(taken) == size:
                break
            if i not in self._fixed and all(self._left[word] > 1 for word in self._needs[i]):
                self._left.subtract(self._needs[i])
                self._fixed.add(i)
                taken.append(i)
        return taken


def _words(pair: Pair, copying: bool) -> set[tuple[str, str]]:
    """The words of either side, without those that may be copies if words are copied."""
    source, target = set(pair.source), set(pair.target)
    copied = source & target if copying else set()
    return {("source", word) for word in source - copied} | {("target", word) for word in target - copied}


def _rarities(pairs: Sequence[Pair]) -> list[int]:
    """For each pair, how many neighbours in it occur nowhere else although both words are frequent."""
    words = Counter(word for pair in pairs for side in (pair.source, pair.target) for word in set(side))
    neighbours = [
        {*pairwise(pair.source)} | {*((*both, "target") for both in pairwise(pair.target))} for pair in pairs
    ]
    counts = Counter(both for some in neighbours for both in some)
    return [
        sum(counts[both] == 1 and min(words[both[0]], words[both[1]]) >= FREQUENT for both in some)
        for some in neighbours
    ]
