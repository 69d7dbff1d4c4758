"""Parts of programs with their phrases, and where they stand."""

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ftor.text.programs.nodes import Units
from ftor.text.reading import Pair
from ftor.text.recombining.orders import Member

Form = Literal["subtree", "modifier", "operator", "item"]
INSIDE = 1e6
"""More than any rank."""
Kind = tuple[Form, Units]
"""Parts of one kind are interchangeable: their form, and the kind of their subtree.

An operator is a modifier that takes several subtrees of its own kind, such as a union. Its kind also says
which of them is not part of it.
"""


class Part(NamedTuple):
    """A part of a program with its phrase.

    Attributes:
        before, after: its units before and after the subtree that it modifies. If it modifies none, all are
            in `before`.
        words: the phrase.
        lead, tail: how many function words are at its start and at its end.
        is_before: whether the phrase stands before that of the subtree that it modifies. None if it modifies
            none, or if its words are on both sides.
        inner: the modifiers in a subtree, with their words from its first one on.
    """

    before: Units
    after: Units
    words: tuple[str, ...]
    lead: int
    tail: int
    is_before: bool | None = None
    inner: tuple[Member, ...] = ()

    @property
    def function_words(self) -> tuple[str, ...]:
        """Those at its start and at its end."""
        return self.words[: self.lead] + self.words[len(self.words) - self.tail :]

    def member(self, rank: float, at: int) -> Member:
        """It as one of its neighbours, if its phrase starts at the word `at`."""
        return Member(rank, at + self.lead, at + len(self.words) - self.tail)


class Parts:
    """The parts of training by their kinds.

    Args:
        bigrams: of the words of training.
    """

    def __init__(self, bigrams: Container[tuple[str, str]]) -> None:
        self._bigrams = bigrams
        self._parts: dict[Kind, dict[tuple[str, str], list[Part]]] = defaultdict(lambda: defaultdict(list))
        self._fitting: dict[tuple[Kind, str, str], list[Part]] = {}

    def add(self, kind: Kind, part: Part) -> None:
        """Add one."""
        self._parts[kind][part.words[0], part.words[-1]].append(part)

    def fitting(self, kind: Kind, before: str, after: str) -> list[Part]:
        """The parts of a kind whose phrases training has between two words, as far as bigrams say."""
        key = kind, before, after
        if key not in self._fitting:
            self._fitting[key] = [
                part
                for (first, last), parts in self._parts[kind].items()
                if (before, first) in self._bigrams and (last, after) in self._bigrams
                for part in parts
            ]
        return self._fitting[key]


@dataclass(frozen=True)
class Place:
    """Where a part stands in its pair.

    Attributes:
        kind: its kind.
        chain: the same for neighbours: the number of their list, or the first unit of their base.
        start, end: its first unit, and the end of its units.
        hole_start, hole_end: the units of the subtree that it modifies. Both are `end` if it modifies none.
        first, last: its first word, and the end of its words.
        lead, tail: how many function words are at the start and at the end of its words.
        separator: the units between it and the next item, if it is one.
        is_before: see `Part`.
        items: how many items its list has. 0 if it is no item.
    """

    kind: Kind
    chain: int
    start: int
    hole_start: int
    hole_end: int
    end: int
    first: int
    last: int
    lead: int
    tail: int
    separator: Units = ()
    is_before: bool | None = None
    items: int = 0

    def part(self, pair: Pair) -> Part:
        """What stands there."""
        return Part(
            pair.target[self.start : self.hole_start],
            pair.target[self.hole_end : self.end],
            pair.source[self.first : self.last],
            self.lead,
            self.tail,
            self.is_before,
        )

    def has_its_copies(self, pair: Pair) -> bool:
        """Whether no word outside of its phrase is a token of it: a name without links is still a copy."""
        part = self.part(pair)
        outside = (*pair.source[: self.first], *pair.source[self.last :])
        own = {token.lower() for token in part.before + part.after} - {word.lower() for word in part.words}
        return own.isdisjoint(word.lower() for word in outside)

    @property
    def rank(self) -> int:
        """Its rank among its neighbours: the first item, or the innermost modifier, comes first."""
        return -self.start if self.kind[0] in ("modifier", "operator") else self.start

    def member(self, moved_from: int = 0, moved_by: int = 0) -> Member:
        """It as one of its neighbours, if the words from `moved_from` on are moved."""
        move = moved_by if self.first + self.lead >= moved_from else 0
        return Member(self.rank, self.first + self.lead + move, self.last - self.tail + move)


def neighbours(places: Sequence[Place], kind: Kind, chain: int) -> list[Place]:
    """The places of neighbours, each with one of its phrases."""
    found = {place.start: place for place in places if (place.kind, place.chain) == (kind, chain)}
    return list(found.values())


class Side(NamedTuple):
    """Where an item may be put in: before the item that starts `at` a unit, or after the one that ends."""

    at: int
    is_later: bool


def with_item(units: Units, item: Units, separator: Units, side: Side) -> Units:
    """Units with one more item of a list, and a separator between it and the one beside it."""
    new = (*separator, *item) if side.is_later else (*item, *separator)
    return (*units[: side.at], *new, *units[side.at :])


def around_base(places: Sequence[Place], subtree: Place) -> list[Place]:
    """The modifiers around the base of a subtree, in it and around it, each with one of its phrases."""
    kind = "modifier", subtree.kind[1]
    base = range(subtree.start, subtree.end)
    found = {place.start: place for place in places if place.kind == kind and place.chain in base}
    return list(found.values())


def inner_members(places: Sequence[Place], subtree: Place) -> tuple[Member, ...]:
    """The modifiers in a subtree. Those around it have higher ranks."""
    inside = (place for place in around_base(places, subtree) if place.start >= subtree.start)
    members = (place.member() for place in inside)
    return tuple(member._replace(rank=member.rank - INSIDE).moved(-subtree.first) for member in members)
