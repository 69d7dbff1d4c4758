"""Ranges of lengths that examples are grouped by."""

from collections import Counter
from collections.abc import Sequence


def ranges(values: Sequence[int], most: int = 8, limit: int | None = None) -> list[range]:
    """Divide values into ranges, smallest first, of about as many examples each.

    Args:
        values: the length of each example, in any order.
        most: how many ranges there are at most, and one more at `limit`. Few values get a range each.
        limit: no range has values on both sides of it: up to `limit`, and above.
    """
    counts = sorted(Counter(values).items())
    if len(counts) <= most:
        return [range(value, value + 1) for value, _ in counts]
    made: list[range] = []
    first, inside, done = counts[0][0], 0, 0
    for place, (value, count) in enumerate(counts):
        inside += count
        following = counts[place + 1][0] if place + 1 < len(counts) else None
        at_limit = limit is not None and following is not None and value <= limit < following
        full = done + inside >= len(values) * (len(made) + 1) / most
        if following is None or full or at_limit:
            made.append(range(first, value + 1))
            done, inside = done + inside, 0
            first = following if following is not None else value
    return made
