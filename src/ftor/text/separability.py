"""Which reordering a pair needs: none, a separable one, or one that is not separable.

A transducer F→R first copies each source word, which leaves the copies side by side. Then it reorders them by
a separable permutation. Copies of one word are alike, so any of them may stand for any other. For this reason
`a b c a b c` is separable (from `a a b b c c`), but `a b c d a b c d` is not.
"""

from collections.abc import Hashable, Sequence
from itertools import groupby, pairwise
from typing import Literal, NamedTuple, TypeVar

Order = Literal["none", "separable", "not separable"]
"""The reordering that a pair needs."""

Item = TypeVar("Item", bound=Hashable)


class Block(NamedTuple):
    """Positions `start` to `end` of an output that no separable permutation gives."""

    start: int
    end: int


def needed_order(sources: Sequence[int]) -> Order:
    """The reordering that an output needs, from the source position of each output token."""
    if all(before <= after for before, after in pairwise(sources)):
        return "none"
    return "not separable" if inseparable_blocks(sources) else "separable"


def inseparable_blocks(sources: Sequence[int]) -> list[Block]:
    """The smallest blocks of an output that no separable permutation of copies gives.

    A block is cut where the words before and after the cut are each side by side in the source. It does not
    matter which cut is taken: what a separable permutation gives can be cut anywhere, and the parts are again
    given by separable permutations. So the first cut is taken, and blocks without one are returned.
    """
    blocks, todo = list[Block](), [(0, len(sources))]
    while todo:
        start, end = todo.pop()
        output = sources[start:end]
        if len(set(output)) <= 2 or end - start <= 3:  # two words alternate in any way
            continue
        cut = _cut(output)
        if cut is None:
            blocks.append(Block(start, end))
        else:
            todo += [(start, start + cut), (start + cut, end)]
    return sorted(blocks)


def _cut(output: Sequence[int]) -> int | None:
    """A place where the words before it all come before (or all after) the others in the source."""
    count = len(output)
    least_after, most_after = list(output), list(output)
    for place in range(count - 2, -1, -1):
        least_after[place] = min(output[place], least_after[place + 1])
        most_after[place] = max(output[place], most_after[place + 1])
    least = most = output[0]
    for place in range(1, count):
        if most <= least_after[place] or least >= most_after[place]:
            return place
        least, most = min(least, output[place]), max(most, output[place])
    return None


def words_first(sources: Sequence[int]) -> bool:
    """Whether words that are reordered first and copied then (R→F) give the output."""
    words = [word for word, _ in groupby(sources)]
    return len(set(words)) == len(words) and not inseparable_blocks(words)


def crossings(sources: Sequence[int]) -> int:
    """How many pairs of output tokens are in another order than their source words."""
    return sum(after < before for place, before in enumerate(sources) for after in sources[place + 1 :])


def repeats(output: Sequence[Item], source: Sequence[Item]) -> int:
    """How many times the whole source stands in an output, one after the other."""
    count, place, size = 0, 0, len(source)
    while place + size <= len(output):
        if tuple(output[place : place + size]) == tuple(source):
            count, place = count + 1, place + size
        else:
            place += 1
    return count
