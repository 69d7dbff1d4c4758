"""Reads geography queries from tokens: which of them are one name, and which is whose argument."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ftor.datasets import terms
from ftor.datasets.geo.execute import EXTREMES, FILTERS, IDS, MEASURES, RELATIONS, UNKEYED
from ftor.datasets.geo.facts import Facts
from ftor.datasets.geo.world import OPEN
from ftor.datasets.terms import ProgramError, Term

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
"""How many arguments each function takes; what is not listed is a constant."""
UNRELEASED = ("country", "each", "higher_1", "lower_1")
"""Functions of the grammar that the released code does not know when it reads programs back."""
RELEASED_ARITIES = {name: arity for name, arity in ARITIES.items() if name not in UNRELEASED}

_CONSTANT = re.compile(r"[a-z][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]+)?|[-+*/\\^<>=~:?@#&$]+")
_VARIABLE = re.compile(r"[A-Z_][A-Za-z0-9_]*")


class Names:
    """Names of one or more words, found at a place in a list of tokens."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {tuple(name.split()) for name in names}
        self.beginnings = {name[:length] for name in self.names for length in range(1, len(name) + 1)}
        self.extensible = {name[:length] for name in self.names for length in range(1, len(name))}

    def longest(self, tokens: Sequence[str], start: int) -> int:
        """The number of tokens of the longest name that begins here, or 0."""
        lengths = self._lengths(tokens, start)
        return max((n for n in lengths if tuple(tokens[start : start + n]) in self.names), default=0)

    def unextensible(self, tokens: Sequence[str], start: int) -> int:
        """The number of tokens that begin some name, if they are a name and begin no longer one; or 0."""
        length = max(self._lengths(tokens, start), default=0)
        found = tuple(tokens[start : start + length])
        return length if found in self.names and found not in self.extensible else 0

    def _lengths(self, tokens: Sequence[str], start: int) -> Iterator[int]:
        length = 1
        while start + length <= len(tokens) and tuple(tokens[start : start + length]) in self.beginnings:
            yield length
            length += 1


@lru_cache(maxsize=8)
def _names_by_id(facts: Facts) -> dict[str, Names]:
    """The names that each kind of id may stand before."""
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
    """Also of capitals and other cities that are only mentioned in facts about states."""
    names = {city.name for city in facts.cities}
    return names.union(*((state.capital, *state.cities) for state in facts.states))


def _place_names(facts: Facts) -> set[str]:
    return {*facts.mountains}.union(*((points.high, points.low) for points in facts.extremes))


def read(tokens: Sequence[str], facts: Facts) -> Term:
    """Build a query's tree, or raise a `ProgramError`.

    After an id comes a name of its own kind, so `riverid colorado river loc_2 …` holds the river
    Colorado, and a name of any kind only if there is none of its own.
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
    """The same as the released research code does it, for figures to compare with published ones.

    Names are found anywhere and whatever their kind, and lose their blanks, so that no name of several
    words is known to the facts.
    """
    merged: list[str] = []
    place = 0
    while place < len(tokens):
        length = _all_names(facts).unextensible(tokens, place)
        merged.append("".join(tokens[place : place + length]) if length else _constant(tokens, place))
        place += length or 1
    return terms.read(merged, RELEASED_ARITIES)


def _constant(tokens: Sequence[str], place: int) -> str:
    """A token that Prolog can read; a variable is an open field, whatever its name."""
    token = tokens[place]
    if _VARIABLE.fullmatch(token):
        return OPEN
    if not _CONSTANT.fullmatch(token):
        raise ProgramError(f"token {place + 1}: expected a function, a name or a number, found {token!r}")
    return token
