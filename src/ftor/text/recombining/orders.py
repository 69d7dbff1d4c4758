"""In which order the phrases of neighbours stand: items of a list, and modifiers around one base."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

WINDOWS = (2, 3)
"""Numbers of neighbours whose order is looked at."""
SHARE = 0.9
"""Words between phrases decide the order if so many of the neighbours of training have the usual order."""


class Member(NamedTuple):
    """A neighbour: the words that name it are `first` up to `last`. Ranks are in the order of the program."""

    rank: float
    first: int
    last: int

    def moved(self, by: int) -> "Member":
        """It with other words before it."""
        return Member(self.rank, self.first + by, self.last + by)


Window = tuple[tuple[str, ...], ...]
"""The words between one phrase and the next."""
Pattern = tuple[int, ...]
"""The order of ranks."""


def windows(
    words: Sequence[str], members: Sequence[Member]
) -> Iterator[tuple[Window, Pattern, list[Member]]]:
    """Members that are named one after the other: the words between them, and the order of their ranks."""
    named = sorted(members, key=lambda member: member.first)
    for size in WINDOWS:
        for start in range(len(named) - size + 1):
            some = named[start : start + size]
            between = tuple(tuple(words[one.last : other.first]) for one, other in pairwise(some))
            ranks = sorted(member.rank for member in some)
            yield between, tuple(ranks.index(member.rank) for member in some), some


class Orders:
    """The orders that training shows, by kind."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, dict[Window, Counter[Pattern]]] = defaultdict(
            lambda: defaultdict(Counter)
        )
        self._decided: dict[Hashable, bool] = {}

    def add(self, kind: Hashable, words: Sequence[str], members: Sequence[Member]) -> None:
        """Count the neighbours of a pair."""
        self._decided.clear()
        for between, pattern, _ in windows(words, members):
            self._counts[kind][between][pattern] += 1

    def has_neighbours(self, kind: Hashable) -> bool:
        """Whether training has neighbours of a kind."""
        return kind in self._counts

    def are_decided(self, kind: Hashable) -> bool:
        """Whether the words between phrases decide the order in training."""
        if kind not in self._decided:
            self._decided[kind] = self._is_decided(kind)
        return self._decided[kind]

    def deciding_words(self) -> frozenset[str]:
        """The words between phrases that decide their order in training."""
        found = (between for kind, of in self._counts.items() if self._is_decided(kind) for between in of)
        return frozenset(word for between in found for words in between for word in words)

    def agree(
        self,
        kind: Hashable,
        words: Sequence[str],
        members: Sequence[Member],
        new: Member,
        nested: bool = False,
    ) -> bool:
        """Whether the order of a new member is usual in training.

        If the words between phrases do not decide the order in training, any order is. If members are nested,
        what two neighbours show holds for three.
        """
        if not self.are_decided(kind):
            return True
        counts = self._counts[kind]
        sizes = {len(between) for between in counts}
        for between, pattern, some in windows(words, members):
            if new not in some:
                continue
            is_new = len(between) not in sizes  # training has no neighbours of so many
            if is_new or (nested and len(between) > 1 and between not in counts):
                if not _is_one_way(between, pattern, nested):
                    return False
                continue
            usual = counts[between].most_common(1) if between in counts else []
            if pattern not in [found for found, _ in usual]:
                return False
        return True

    def are_ambiguous(
        self,
        kind: Hashable,
        words: Sequence[str],
        members: Sequence[Member],
        new: Member,
        nested: bool = False,
    ) -> bool:
        """Whether a new member could also have another rank among the others, by the order of training."""
        if not self.are_decided(kind):
            return False
        ranks = sorted(member.rank for member in members)
        gaps = [ranks[0] - 0.5, *(rank + 0.5 for rank in ranks)]
        here = sum(rank < new.rank for rank in ranks)
        others = [new._replace(rank=rank) for number, rank in enumerate(gaps) if number != here]
        return any(self.agree(kind, words, [other, *members], other, nested) for other in others)

    def _is_decided(self, kind: Hashable) -> bool:
        repeated = [count for count in self._counts[kind].values() if count.total() > 1]
        usual = sum(max(count.values()) for count in repeated)
        return usual >= SHARE * sum(count.total() for count in repeated)


def _is_one_way(between: Window, pattern: Pattern, nested: bool) -> bool:
    """Whether neighbours stand as said, or all the other way round with the same words between them."""
    return pattern == tuple(range(len(pattern))) or (
        pattern == tuple(range(len(pattern)))[::-1] and (nested or len(set(between)) == 1)
    )
