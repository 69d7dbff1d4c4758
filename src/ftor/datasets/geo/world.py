"""The entities of the facts and the relations between them, indexed for queries.

As in Prolog, lists are ordered and may repeat elements. The order decides ties, repetitions count in sums.
A list is represented as a dict from elements, in the order of their first occurrence, to their counts. All
operators of the query language depend only on these, and no dict is larger than the number of entities.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ftor.datasets.geo.facts import City, Facts

OPEN = "_"
"""A field that is not given, such as the state in `cityid springfield _`."""
MAJOR_CITY = 150_000
"""A major city has more inhabitants than this."""
MAJOR_RIVER = 750
"""A major river is longer than this, in kilometres."""


class Value(NamedTuple):
    """An entity or a number. The kind is "stateid", …, "lake", "int" or "float". Only cities have a state."""

    kind: str
    content: str | float
    state: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a field is not given."""
        return self.content == OPEN or self.state == OPEN

    def matches(self, other: "Value") -> bool:
        """Whether both can be the same entity."""
        return self.kind == other.kind and all(
            one == two or OPEN in (one, two) for one, two in zip(self[1:], other[1:], strict=True)
        )

    def bound(self, other: "Value") -> "Value":
        """The same value with open fields filled in from a value that matches."""
        fields = [two if one == OPEN else one for one, two in zip(self[1:], other[1:], strict=True)]
        return Value(self.kind, *fields)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The value as Prolog prints it."""
        if self.kind in ("int", "float"):
            return repr(self.content)
        fields = [_quoted(str(field)) for field in self[1:] if field or field is self.content]
        return fields[0] if self.kind == "lake" else f"{self.kind}({','.join(fields)})"


def _quoted(name: str) -> str:
    return name if name == OPEN or re.fullmatch("[a-z][A-Za-z0-9_]*", name) else f"'{name}'"


def number(value: float) -> Value:
    """The value of a number. 3 and 3.0 are different values."""
    return Value("float" if isinstance(value, float) else "int", value)


def standard_order(value: Value) -> tuple[object, ...]:
    """The key that sorts values as Prolog does: numbers, names, entities with fewer fields first."""
    if value.kind in ("int", "float"):
        return 0, value.content, value.kind
    return 1 if value.kind == "lake" else 3 if value.state else 2, value.kind, value.content, value.state


USA = Value("countryid", "usa")

List = dict[Value, int]


class Table:
    """All entities of a kind, in the order of the facts, possibly repeated."""

    def __init__(self, entities: Iterable[Value]) -> None:
        self.all: List = dict(Counter(entities))

    def first(self, value: Value) -> Value | None:
        """The first entity that matches the value."""
        if not value.is_open:
            return value if value in self.all else None
        return next((entity for entity in self.all if value.matches(entity)), None)


class Measure(Table):
    """The number of each entity. Of several, the first."""

    def __init__(self, pairs: Iterable[tuple[Value, float]]) -> None:
        pairs = list(pairs)
        super().__init__(entity for entity, _ in pairs)
        self.numbers = {entity: number(value) for entity, value in reversed(pairs)}


class Relation:
    """Pairs in the order of the facts, indexed by both sides."""

    def __init__(self, pairs: Iterable[tuple[Value, Value]]) -> None:
        self.right_of: dict[Value, List] = {}
        self.left_of: dict[Value, List] = {}
        self.pairs = list(pairs)
        for left, right in self.pairs:
            _count(self.right_of.setdefault(left, {}), right)
            _count(self.left_of.setdefault(right, {}), left)

    def related(self, value: Value, from_right: bool) -> List:
        """The entities related to a value. An open value stands for all that match."""
        if not value.is_open:
            return (self.left_of if from_right else self.right_of).get(value, {})
        entities: List = {}
        for left, right in self.pairs:
            if value.matches(right if from_right else left):
                _count(entities, left if from_right else right)
        return entities


def _count(entities: List, entity: Value) -> None:
    entities[entity] = entities.get(entity, 0) + 1


class World(NamedTuple):
    """The indexed facts, by the names of the query language."""

    tables: dict[str, Table]
    measures: dict[str, Measure]
    relations: dict[str, Relation]


Measured = list[tuple[Value, float]]
Pairs = list[tuple[Value, Value]]


@lru_cache(maxsize=8)
def world(facts: Facts) -> World:
    """Index the facts. The order within each table and relation decides ties."""
    return World(_tables(facts), _measures(facts), _relations(facts))


def _tables(facts: Facts) -> dict[str, Table]:
    places = Table(place for _, place in _points(facts))
    large = [city for city, population in _populations(facts) if population > MAJOR_CITY]
    long = [river for river, length in _lengths(facts) if length > MAJOR_RIVER]
    return {
        "city": Table(map(_city, facts.cities)),
        "state": Table(_state(fact.name) for fact in facts.states),
        "river": Table(river for river, _ in _lengths(facts)),
        "place": places,
        "mountain": places,  # the facts about mountains are not used
        "lake": Table(Value("lake", fact.name) for fact in facts.lakes),
        "capital": Table(city for _, city in _capitals(facts)),
        "major": Table(large + long),
    }


def _measures(facts: Facts) -> dict[str, Measure]:
    heights, lengths, of_cities = _heights(facts), _lengths(facts), _populations(facts)
    of_states: Measured = [(_state(fact.name), fact.population) for fact in facts.states]
    areas: Measured = [(_state(fact.name), float(fact.area)) for fact in facts.states]
    densities = [(_state(fact.name), fact.population / fact.area) for fact in facts.states if fact.area > 0]
    return {
        "population_1": Measure(of_states + of_cities),
        "area_1": Measure(areas),
        "density_1": Measure(densities),
        "elevation_1": Measure(heights),
        "len": Measure(lengths),
        "size": Measure(areas + of_cities + lengths + heights),
    }


def _relations(facts: Facts) -> dict[str, Relation]:
    heights, lengths = _heights(facts), _lengths(facts)
    borders = [(_state(name), _state(other)) for name, others in facts.borders for other in others]
    high = [(_state(fact.state), _place(fact.high)) for fact in facts.extremes]
    low = [(_state(fact.state), _place(fact.low)) for fact in facts.extremes]
    return {
        "loc": Relation(_locations(facts)),
        "next_to": Relation(borders),
        "traverse": Relation(_flows(facts)),
        "capital": Relation(_capitals(facts)),
        # The query language defines the extreme points of the country.
        "high_point": Relation([(USA, _place("mount mckinley")), *high]),
        "low_point": Relation([(USA, _place("death valley")), *low]),
        "elevation": Relation((place, number(height)) for place, height in heights),
        "higher": Relation((one, other) for one, x in heights for other, y in heights if x > y),
        "lower": Relation((one, other) for one, x in heights for other, y in heights if x < y),
        "longer": Relation((one, other) for one, x in lengths for other, y in lengths if x > y),
    }


def _state(name: str) -> Value:
    return Value("stateid", name)


def _place(name: str) -> Value:
    return Value("placeid", name)


def _city(fact: City) -> Value:
    return Value("cityid", fact.name, fact.abbreviation)


def _points(facts: Facts) -> Pairs:
    """States with their highest points, then with their lowest points."""
    high = [(_state(fact.state), _place(fact.high)) for fact in facts.extremes]
    return high + [(_state(fact.state), _place(fact.low)) for fact in facts.extremes]


def _heights(facts: Facts) -> Measured:
    """Elevations of points. Unlike in `_points`, the lowest points come first."""
    low: Measured = [(_place(fact.low), fact.low_elevation) for fact in facts.extremes]
    return low + [(_place(fact.high), fact.high_elevation) for fact in facts.extremes]


def _lengths(facts: Facts) -> Measured:
    return [(Value("riverid", fact.name), fact.size) for fact in facts.rivers]


def _populations(facts: Facts) -> Measured:
    return [(_city(fact), fact.population) for fact in facts.cities]


def _capitals(facts: Facts) -> Pairs:
    return [(_state(fact.name), Value("cityid", fact.capital, fact.abbreviation)) for fact in facts.states]


def _flows(facts: Facts) -> Pairs:
    return [(Value("riverid", fact.name), _state(name)) for fact in facts.rivers for name in fact.states]


def _locations(facts: Facts) -> Pairs:
    """What is in the country, then what is in the states."""
    cities = list(map(_city, facts.cities))
    states = [_state(fact.name) for fact in facts.states]
    rivers = [river for river, _ in _lengths(facts)]
    places = [(place, state) for state, place in _points(facts)]
    in_country = [(entity, USA) for entity in (*cities, *states, *rivers, *(place for place, _ in places))]
    in_states = [(_city(fact), _state(fact.state)) for fact in facts.cities]
    return in_country + in_states + places + _flows(facts)
