"""Geography queries on plain lists, as the language defines them; closed entities only."""

from ftor.datasets.geo.facts import Facts
from ftor.datasets.terms import Term


class Undefined(Exception):  # noqa: N818
    """The query means nothing."""


class Unsummable(Exception):  # noqa: N818
    """The query adds or counts what cannot be."""


class Country:
    """All relations as lists of pairs. Entities are tuples; a number is `("n", number)`."""

    def __init__(self, facts: Facts) -> None:
        states = [("stateid", f.name) for f in facts.states]
        cities = [("cityid", f.name, f.abbreviation) for f in facts.cities]
        rivers = [("riverid", f.name) for f in facts.rivers]
        highs = [(("stateid", f.state), ("placeid", f.high)) for f in facts.extremes]
        lows = [(("stateid", f.state), ("placeid", f.low)) for f in facts.extremes]
        places = [place for _, place in highs + lows]
        capital = [(("stateid", f.name), ("cityid", f.capital, f.abbreviation)) for f in facts.states]
        traverse = [(("riverid", f.name), ("stateid", s)) for f in facts.rivers for s in f.states]
        self.kinds = {
            "state": states,
            "city": cities,
            "river": rivers,
            "place": places,
            "mountain": places,
            "lake": [("lake", f.name) for f in facts.lakes],
            "capital": [city for _, city in capital],
        }
        lengths = [(("riverid", f.name), f.size) for f in facts.rivers]
        peoples = [(("cityid", f.name, f.abbreviation), f.population) for f in facts.cities]
        areas = [(("stateid", f.name), float(f.area)) for f in facts.states]
        elevations = [(("placeid", f.low), f.low_elevation) for f in facts.extremes]
        elevations += [(("placeid", f.high), f.high_elevation) for f in facts.extremes]
        self.major = [c for c, n in peoples if n > 150_000] + [r for r, n in lengths if n > 750]
        self.numbers = {
            "population_1": [(("stateid", f.name), f.population) for f in facts.states] + peoples,
            "area_1": areas,
            "density_1": [(("stateid", f.name), f.population / f.area) for f in facts.states],
            "elevation_1": elevations,
            "len": lengths,
            "size": areas + peoples + lengths + elevations,
        }
        usa = ("countryid", "usa")
        self.pairs = {
            "loc": [(x, usa) for x in cities + states + rivers + places]
            + [(("cityid", f.name, f.abbreviation), ("stateid", f.state)) for f in facts.cities]
            + [(place, state) for state, place in highs + lows]
            + traverse,
            "traverse": traverse,
            "next_to": [(("stateid", s), ("stateid", o)) for s, others in facts.borders for o in others],
            "capital": capital,
            "high_point": [(usa, ("placeid", "mount mckinley")), *highs],
            "low_point": [(usa, ("placeid", "death valley")), *lows],
            "higher": [(x, y) for x, a in elevations for y, b in elevations if a > b],
            "lower": [(x, y) for x, a in elevations for y, b in elevations if a < b],
            "longer": [(x, y) for x, a in lengths for y, b in lengths if a > b],
            "elevation": [(x, ("n", a)) for x, a in elevations],
        }

    def number(self, measure, x):
        """What an entity measures, or None."""
        if x[0] == "n":
            return x[1] if measure == "size" else None
        return next((n for y, n in self.numbers[measure] if x == y), None)

    def related(self, operator, x):
        """What is on the other side of the pairs."""
        if operator == "longer":
            return [left for left, right in self.pairs["longer"] if right == x]
        name, side = operator.rsplit("_", 1)
        here = int(side) - 1
        return [pair[1 - here] for pair in self.pairs[name] if same(pair[here], x)]


def same(one, other):
    return one == other and type(one[1]) is type(other[1])


def is_relation(head, country):
    return head == "longer" or (head[-2:] in ("_1", "_2") and head[:-2] in country.pairs)


def keyed(term: Term, country: Country):
    head, arguments = term
    if len(arguments) != 1:
        raise Undefined
    argument = arguments[0]
    if head in country.numbers:
        found = [(country.number(head, x), x) for x in evaluate(argument, country)]
        return [(n, x) for n, x in found if n is not None]
    if is_relation(head, country) and head not in ("capital_1", "capital_2", "elevation_2"):
        return [(country.related(head, x), x) for x in evaluate(argument, country)]
    if head in country.kinds or head == "major":
        table = country.major if head == "major" else country.kinds[head]
        found = []
        for values, x in keyed(argument, country):
            if not isinstance(values, list):
                raise Undefined
            found.append(([v for v in values if v in table], x))
        return found
    raise Undefined


def evaluate(term: Term, country: Country):
    head, arguments = term
    if head.endswith("id"):
        return [(head, *(argument.head for argument in arguments))]
    if head in country.kinds and arguments == (Term("all"),):
        return list(country.kinds[head])
    if not arguments:
        raise Undefined
    if head in ("largest_one", "smallest_one", "most", "fewest"):
        pairs = keyed(arguments[0], country)
        if any(isinstance(values, list) != (head in ("most", "fewest")) for values, _ in pairs):
            raise Unsummable
        sizes = [len(set(v)) if isinstance(v, list) else v for v, _ in pairs]
        best = (max if head in ("largest_one", "most") else min)(sizes, default=None)
        return [] if best is None else [pairs[sizes.index(best)][1]]
    first, *rest = [evaluate(argument, country) for argument in arguments]
    if head == "answer":
        return first
    if head in ("exclude", "intersection"):
        return [x for x in first if any(same(x, y) for y in rest[0]) == (head == "intersection")]
    if head in country.kinds or head == "major":
        return [x for x in first if x in (country.major if head == "major" else country.kinds[head])]
    if head in country.numbers:
        return [("n", n) for n in (country.number(head, x) for x in first) if n is not None]
    if is_relation(head, country):
        return [y for x in first for y in country.related(head, x)]
    if head == "count":
        return [("n", len({(*x, type(x[1])) for x in first}))]
    if head == "sum":
        if any(x[0] != "n" for x in first):
            raise Unsummable
        return [("n", sum(n for _, n in first))]
    measure, best = {
        "largest": ("size", max), "smallest": ("size", min), "highest": ("elevation_1", max),
        "lowest": ("elevation_1", min), "longest": ("len", max), "shortest": ("len", min),
    }[head]  # fmt: skip
    found = [(x, country.number(measure, x)) for x in first]
    found = [(x, n) for x, n in found if n is not None]
    return [best(found, key=lambda pair: pair[1])[0]] if found else []
