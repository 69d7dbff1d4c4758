"""Reads geography queries: joins the tokens of names, and builds the tree."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ftor.datasets import terms
from ftor.datasets.geo.execute import EXTREMES, FILTERS, IDS, MEASURES, RELATIONS, UNKEYED
from ftor.datasets.geo.facts import Facts
from ftor.datasets.geo.world import OPEN
from ftor.datasets.terms import QueryError, Term

_OF_ONE_ARGUMENT = (
    "answer",
    "count",
    "country",
    "each",
    "fewest",
    "largest_one",
    "most",
    "smallest_one",
    "sum",
)
ARITIES = dict.fromkeys(
    [*_OF_ONE_ARGUMENT, *IDS, *FILTERS, *MEASURES, *RELATIONS, *UNKEYED, *EXTREMES], 1
) | {"cityid": 2, "exclude": 2, "intersection": 2}
"""The number of arguments of each function. Tokens that are not listed are constants."""
UNRELEASED = ("country", "each", "higher_1", "lower_1")
"""Functions of the grammar that the released code cannot read."""
RELEASED_ARITIES = {name: arity for name, arity in ARITIES.items() if name not in UNRELEASED}

_CONSTANT = re.compile(r"[a-z][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]+)?|[-+*/\\^<>=~:?@#&$]+")
_VARIABLE = re.compile(r"[A-Z_][A-Za-z0-9_]*")


class Names:
    """A set of names of one or more words, to search in a list of tokens."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {tuple(name.split()) for name in names}
        self.beginnings = {name[:length] for name in self.names for length in range(1, len(name) + 1)}
        self.extensible = {name[:length] for name in self.names for length in range(1, len(name))}

    def longest(self, tokens: Sequence[str], start: int) -> int:
        """The number of tokens of the longest name that begins at `start`, or 0."""
        lengths = self._lengths(tokens, start)
        return max((n for n in lengths if tuple(tokens[start : start + n]) in self.names), default=0)

    def unextensible(self, tokens: Sequence[str], start: int) -> int:
        """The number of tokens from `start` on that begin some name.

        0 if they are not a whole name, or if a longer name begins with them.
        """
        length = max(self._lengths(tokens, start), default=0)
        words = tuple(tokens[start : start + length])
        return length if words in self.names and words not in self.extensible else 0

    def _lengths(self, tokens: Sequence[str], start: int) -> Iterator[int]:
        length = 1
        while start + length <= len(tokens) and tuple(tokens[start : start + length]) in self.beginnings:
            yield length
            length += 1


@lru_cache(maxsize=8)
def _names_by_id(facts: Facts) -> dict[str, Names]:
    """The names that can follow each kind of id."""
    return {
        "stateid": Names(fact.name for fact in facts.states),
        "cityid": Names(_city_names(facts)),
        "riverid": Names(fact.name for fact in facts.rivers),
        "placeid": Names(_place_names(facts)),
    }


@lru_cache(maxsize=8)
def _all_names(facts: Facts) -> Names:
    names = {name for state in facts.states for name in (state.name, state.abbreviation)}
    names |= {fact.name for fact in facts.rivers + facts.lakes}
    return Names(names | _city_names(facts) | _place_names(facts))


def _city_names(facts: Facts) -> set[str]:
    """The names of cities, including those that only facts about states mention."""
    names = {city.name for city in facts.cities}
    return names.union(*((state.capital, *state.cities) for state in facts.states))


def _place_names(facts: Facts) -> set[str]:
    return {*facts.mountains}.union(*((points.high, points.low) for points in facts.extremes))


def read(tokens: Sequence[str], facts: Facts) -> Term:
    """Read a query, or raise a `QueryError`.

    The name after an id is of the kind of the id if possible, else of any kind. So the name in
    `riverid colorado river loc_2 …` is the river `colorado`.
    """
    merged: list[str] = []
    place = 0
    while place < len(tokens):
        kind = merged[-1] if merged and merged[-1] in IDS else None
        length = 0
        if kind:
            own = _names_by_id(facts).get(kind)
            length = (own.longest(tokens, place) if own else 0) or _all_names(facts).longest(tokens, place)
        merged.append(" ".join(tokens[place : place + length]) if length else _constant(tokens, place))
        place += length or 1
    return terms.read(merged, ARITIES)


def read_as_released(tokens: Sequence[str], facts: Facts) -> Term:
    """Read a query as the released research code does, to compare with published figures.

    Names are found anywhere, of any kind, and their spaces are deleted. So the facts know no name of several
    words.
    """
    merged: list[str] = []
    place = 0
    while place < len(tokens):
        length = _all_names(facts).unextensible(tokens, place)
        merged.append("".join(tokens[place : place + length]) if length else _constant(tokens, place))
        place += length or 1
    return terms.read(merged, RELEASED_ARITIES)


def _constant(tokens: Sequence[str], place: int) -> str:
    """A token that Prolog can read. A variable with any name is an open field."""
    token = tokens[place]
    if _VARIABLE.fullmatch(token):
        return OPEN
    if not _CONSTANT.fullmatch(token):
        raise QueryError(f"token {place + 1}: expected a function, a name or a number, found {token!r}")
    return token
