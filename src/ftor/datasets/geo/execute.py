"""Executes geography queries. The value of an expression is a list, computed from those of its arguments."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

from ftor.datasets.geo.world import OPEN, List, Value, World, number, standard_order
from ftor.datasets.terms import QueryError, Term

STEPS = 500_000
"""Most elements that a query may look at: hundreds of times as many as any published query does."""
IDS = ("stateid", "cityid", "riverid", "placeid", "countryid")

FILTERS = ("city", "state", "river", "place", "mountain", "lake", "capital", "major")
MEASURES = ("population_1", "area_1", "density_1", "elevation_1", "len", "size")
RELATIONS = {
    f"{name}_{side}": (name, side == 2)
    for name in ("loc", "next_to", "traverse", "high_point", "low_point", "higher", "lower")
    for side in (1, 2)
} | {"longer": ("longer", True)}
"""The relation that an operator follows, and whether it starts from the right side of the pairs."""
UNKEYED = {
    "capital_1": ("capital", False),
    "capital_2": ("capital", True),
    "elevation_2": ("elevation", True),
}
"""The same for operators that `most` and `fewest` cannot have as arguments."""
EXTREMES: dict[str, tuple[str, Callable[..., tuple[Value, float]]]] = {
    "largest": ("size", max), "smallest": ("size", min), "highest": ("elevation_1", max),
    "lowest": ("elevation_1", min), "longest": ("len", max), "shortest": ("len", min),
}  # fmt: skip


class _UndefinedError(Exception):
    """An undefined query. Its answer is empty."""


class _Keyed(NamedTuple):
    """The value of an operator for one element of its argument: a list or a number."""

    key: Value
    values: List | Value


def execute(query: Term, world: World, steps: int = STEPS) -> tuple[Value, ...]:
    """The answer, sorted and without duplicates.

    An undefined query, for instance `state next_to_2 0`, has an empty answer. A query that adds things that
    are not numbers, or takes more than `steps`, raises a `QueryError`.
    """
    try:
        values = _Execution(world, steps).value(query)
    except _UndefinedError:
        return ()
    return tuple(sorted(values, key=standard_order))


class _Execution:
    def __init__(self, world: World, steps: int) -> None:
        self.world = world
        self.limit = self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise QueryError(f"the query takes more than {self.limit} steps")

    def value(self, term: Term) -> List:
        """The value of an expression."""
        head, arguments = term
        self.spend(1)
        if head in IDS:
            return {_entity(term): 1}
        if head in ("exclude", "intersection") and len(arguments) == 2:
            both = self.value(arguments[0]), self.value(arguments[1])
            return self._excluded(*both) if head == "exclude" else self._common(*both)
        if len(arguments) != 1:
            if head == OPEN:  # Prolog would try every expression there is, without end
                raise QueryError(f"expected an expression, found {head!r}")
            raise _UndefinedError
        argument = arguments[0]
        if head in ("largest_one", "smallest_one"):
            return self._extreme_key(max if head == "largest_one" else min, argument)
        if head in ("most", "fewest"):
            return self._frequent_key(max if head == "most" else min, argument)
        if head in FILTERS and head != "major" and argument == Term("all"):
            self.spend(len(self.world.tables[head].all))
            return self.world.tables[head].all
        return self._operate(head, self.value(argument))

    def _operate(self, head: str, elements: List) -> List:
        """Apply an operator that depends only on the value of its argument."""
        self.spend(len(elements))
        if head in ("answer", "each"):
            return elements
        if head in FILTERS:
            return self._filtered(head, elements)
        if head in MEASURES:
            return _list((value, elements[x]) for x, _, value in self._measured(head, elements))
        if head in RELATIONS:
            return self._related(*RELATIONS[head], elements)
        if head in UNKEYED:
            return self._related(*UNKEYED[head], elements)
        if head in EXTREMES:
            measure, best = EXTREMES[head]
            numbered = [(bound, _content(n)) for _, bound, n in self._measured(measure, elements)]
            return _single(best(numbered, key=_second)[0]) if numbered else {}
        if head == "count":
            return _single(number(len(elements)))
        if head == "sum":
            return _single(_total(elements))
        raise _UndefinedError

    def _filtered(self, name: str, elements: List) -> List:
        table = self.world.tables[name]
        entities = ((table.first(element), count) for element, count in elements.items())
        return _list((entity, count) for entity, count in entities if entity)

    def _measured(self, name: str, elements: List) -> Iterator[tuple[Value, Value, Value]]:
        """Yield each element that has a number, the same with its open fields filled in, and the number."""
        measure = self.world.measures[name]
        for element in elements:
            if name == "size" and element.kind in ("int", "float"):
                yield element, element, element
            elif bound := measure.first(element):
                yield element, bound, measure.numbers[bound]

    def _related(self, name: str, from_right: bool, elements: List) -> List:
        relation = self.world.relations[name]
        counts: List = {}
        for element, count in elements.items():
            related = relation.related(element, from_right)
            self.spend(len(related) if not element.is_open else len(relation.pairs))
            for other, times in related.items():
                counts[other] = counts.get(other, 0) + count * times
        return counts

    def keyed(self, term: Term) -> list[_Keyed]:
        """The value of an expression for each element of its innermost list."""
        head, arguments = term
        self.spend(1)
        if len(arguments) != 1:
            raise _UndefinedError
        if head in MEASURES:
            elements = self.value(arguments[0])
            self.spend(len(elements))
            return [_Keyed(bound, value) for _, bound, value in self._measured(head, elements)]
        if head in RELATIONS:
            elements = self.value(arguments[0])
            return [_Keyed(x, self._related(*RELATIONS[head], {x: 1})) for x in elements]
        if head in FILTERS:
            return [_Keyed(key, self._filtered_values(head, v)) for key, v in self.keyed(arguments[0])]
        raise _UndefinedError

    def _filtered_values(self, name: str, values: List | Value) -> List:
        if isinstance(values, Value):
            raise _UndefinedError
        self.spend(len(values))
        return self._filtered(name, values)

    def _extreme_key(self, best: Callable[..., tuple[Value, float]], argument: Term) -> List:
        numbered = []
        for key, value in self.keyed(argument):
            if not isinstance(value, Value):
                raise QueryError("expected numbers to compare, found lists")
            numbered.append((key, _content(value)))
        return _single(best(numbered, key=_second)[0]) if numbered else {}

    def _frequent_key(self, best: Callable[..., tuple[Value, int]], argument: Term) -> List:
        counted = []
        for key, values in self.keyed(argument):
            if isinstance(values, Value):
                raise QueryError("expected lists to count, found numbers")
            counted.append((key, len(values)))
        return _single(best(counted, key=_second)[0]) if counted else {}

    def _excluded(self, one: List, other: List) -> List:
        vague = any(element.is_open for element in other)
        return {x: count for x, count in one.items() if self._match(x, other, vague) is None}

    def _common(self, one: List, other: List) -> List:
        vague = any(element.is_open for element in other)
        common = []
        for element, count in one.items():
            match = self._match(element, other, vague)
            if match is None:
                continue
            both = element.bound(match)
            common.append((both, count))
            if match.is_open:  # from here on it is bound, like a variable of Prolog
                other = {both if value == match else value: times for value, times in other.items()}
        return _list(common)

    def _match(self, element: Value, others: List, vague: bool) -> Value | None:
        """The first of the others that matches an element. `vague` says whether any of them is open."""
        if not vague and not element.is_open:
            self.spend(1)
            return element if element in others else None
        self.spend(len(others))
        return next((other for other in others if element.matches(other)), None)


def _second(pair: tuple[Value, float]) -> float:
    return pair[1]


def _content(element: Value) -> float:
    return cast(float, element.content)


def _list(counted: Iterator[tuple[Value, int]] | list[tuple[Value, int]]) -> List:
    counts: List = {}
    for value, count in counted:
        counts[value] = counts.get(value, 0) + count
    return counts


def _single(value: Value) -> List:
    return {value: 1}


def _total(elements: List) -> Value:
    total: float = 0
    for element, count in elements.items():
        if element.kind not in ("int", "float"):
            raise QueryError(f"expected numbers to add, found {element}")
        try:
            total += _content(element) * count
        except OverflowError:
            raise QueryError("expected numbers to add, found too large ones") from None
    return number(total)


def _entity(term: Term) -> Value:
    """The entity that a term names. It need not exist."""
    names = [_text(argument) for argument in term.arguments]
    if len(names) != (2 if term.head == "cityid" else 1):
        raise _UndefinedError
    return Value(term.head, *names)


def _text(term: Term) -> str:
    arguments = ",".join(map(_text, term.arguments))
    return f"{term.head}({arguments})" if arguments else term.head
