"""Pairs put together from others: a whole pair that stands in another one is replaced by a third.

`open the door and turn left` contains `turn left`, and its target the target of `turn left`. If that is so
for all pairs between `and` and the end of a sentence, any pair can stand there, also one with an `and`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from ftor.text.reading import Pair
from ftor.text.seeds import derived_seed

LEAST_PARTS = 5
"""Different pairs that must have been seen in a context."""
LEAST_SHARE = 0.95
"""Share of the pairs in a context whose targets are parts of the target."""
GROWTH = 1.6
"""New targets are at most so many times as long as the longest of training."""
TRIES = 20
"""Draws for each pair that is asked for."""

Tokens = tuple[str, ...]


class Place(NamedTuple):
    """Where a pair stands in another one: source tokens `first:last`, target tokens `start:end`."""

    pair: Pair
    first: int
    last: int
    start: int
    end: int


@dataclass
class _Context:
    """The pairs that were seen between two words: which, how many, and where their targets are parts."""

    parts: set[Tokens] = field(default_factory=set)
    seen: int = 0
    kept: int = 0
    places: list[Place] = field(default_factory=list)

    @property
    def is_free(self) -> bool:
        """Whether any pair can stand here."""
        return len(self.parts) >= LEAST_PARTS and self.kept >= LEAST_SHARE * self.seen


def substituted(pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """New pairs, at most `count`. Their sources are not among those of `pairs`."""
    places = [place for context in _contexts(pairs).values() if context.is_free for place in context.places]
    if not places:
        return []
    draw = Random(derived_seed("substituted", seed))
    longest = GROWTH * max(len(pair.target) for pair in pairs)
    known = {pair.source for pair in pairs}
    made: list[Pair] = []
    for _ in range(TRIES * count):
        place, part = draw.choice(places), draw.choice(pairs)
        new = _replaced(place, part)
        if len(made) < count and new.source not in known and len(new.target) <= longest:
            known.add(new.source)
            made.append(new)
    return made


def _replaced(place: Place, part: Pair) -> Pair:
    source, target = place.pair.source, place.pair.target
    return replace(
        place.pair,
        source=source[: place.first] + part.source + source[place.last :],
        target=target[: place.start] + part.target + target[place.end :],
        target_text="",
    )


def _contexts(pairs: Sequence[Pair]) -> dict[tuple[str | None, str | None], _Context]:
    """The contexts, by the words before and after; None at the ends of a sentence."""
    targets = {pair.source: pair.target for pair in pairs}
    contexts: dict[tuple[str | None, str | None], _Context] = defaultdict(_Context)
    for pair in pairs:
        for first, last in _spans(pair.source, targets):
            before = pair.source[first - 1] if first else None
            after = pair.source[last] if last < len(pair.source) else None
            context, part = contexts[before, after], targets[pair.source[first:last]]
            starts = [
                start
                for start in range(len(pair.target) - len(part) + 1)
                if pair.target[start : start + len(part)] == part
            ]
            context.parts.add(pair.source[first:last])
            context.seen += 1
            context.kept += bool(starts)
            if len(starts) == 1:
                context.places.append(Place(pair, first, last, starts[0], starts[0] + len(part)))
    return contexts


def _spans(source: Tokens, known: dict[Tokens, Tokens]) -> Iterator[tuple[int, int]]:
    """The parts of a source, of two words or more, that are sources of whole pairs."""
    for first in range(len(source)):
        for last in range(first + 2, len(source) + 1):
            if last - first < len(source) and source[first:last] in known:
                yield first, last
