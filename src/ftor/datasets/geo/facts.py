"""Reads the facts that geography queries are executed on: `geobase.pl`, a list of Prolog facts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, NoReturn

from ftor.datasets.folders import require_file
from ftor.text.reading import DataError, read_lines

FILE = "geo/geobase.pl"
FIELDS = {
    "state": "name name name number number number name name name name",
    "city": "name name name number",
    "river": "name number names",
    "border": "name name names",
    "highlow": "name name name number name number",
    "lake": "name number names",
    "mountain": "name name name number",
    "road": "name names",
}
"""The relations, and the kind of each field."""

Field = str | int | float | tuple[str, ...]

_TOKEN = re.compile(
    r"""\s+ | %.* | /\*.*?\*/ |
    (?P<quoted>'(?:[^'\\]|'')*') |
    (?P<number>-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,2})?) |
    (?P<word>[a-z][A-Za-z0-9_]*) |
    (?P<mark>[(),.\[\]])""",
    re.VERBOSE,
)


class State(NamedTuple):
    """A state. `cities` are four of its larger ones."""

    name: str
    abbreviation: str
    capital: str
    population: float
    area: float
    cities: tuple[str, ...]


class City(NamedTuple):
    """A city and the state that it is in."""

    name: str
    abbreviation: str
    state: str
    population: float


class Stretch(NamedTuple):
    """A river with its length, or a lake with its area, and the states that it is in."""

    name: str
    size: float
    states: tuple[str, ...]


class Extremes(NamedTuple):
    """The highest and the lowest point of a state."""

    state: str
    high: str
    high_elevation: float
    low: str
    low_elevation: float


@dataclass(frozen=True, eq=False)  # compared and hashed by identity, as a key of caches
class Facts:
    """All facts. Their order is that of the file, and decides ties."""

    states: tuple[State, ...]
    cities: tuple[City, ...]
    rivers: tuple[Stretch, ...]
    borders: tuple[tuple[str, tuple[str, ...]], ...]
    extremes: tuple[Extremes, ...]
    lakes: tuple[Stretch, ...]
    mountains: tuple[str, ...]


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def find(data_folder: Path | None) -> Facts:
    """Find the facts in the data folders and read them, or raise a `DataError`."""
    what = "the facts that queries are executed on"
    path = require_file(FILE, data_folder, what, "to download them: ftor data fetch geobase")
    return _read_once(path.resolve(), path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read_once(path: Path, changed: int) -> Facts:
    return read(path)


def read(path: Path) -> Facts:
    """Read a file of facts, or raise a `DataError` that names the line."""
    rows: dict[str, list[tuple[Field, ...]]] = {relation: [] for relation in FIELDS}
    for relation, fields in _facts(path):
        rows[relation].append(fields)
    for relation in ("state", "city", "river", "border", "highlow"):
        if not rows[relation]:
            raise DataError(f"{path}: no facts about {relation}")
    return _arranged(rows)


def _arranged(rows: dict[str, list[tuple[Field, ...]]]) -> Facts:
    # _facts has checked the kind of each field, which the type checker cannot see.
    return Facts(
        tuple(State(*row[:5], row[6:]) for row in rows["state"]),  # type: ignore[arg-type, call-arg]
        tuple(City(row[2], row[1], row[0], row[3]) for row in rows["city"]),  # type: ignore[arg-type]
        tuple(Stretch(*row) for row in rows["river"]),  # type: ignore[arg-type]
        tuple((row[0], row[2]) for row in rows["border"]),  # type: ignore[misc]
        tuple(Extremes(row[0], *row[2:]) for row in rows["highlow"]),  # type: ignore[arg-type]
        tuple(Stretch(*row) for row in rows["lake"]),  # type: ignore[arg-type]
        tuple(row[2] for row in rows["mountain"]),  # type: ignore[misc]
    )


def _facts(path: Path) -> Iterator[tuple[str, tuple[Field, ...]]]:
    """Yield the relation and the fields of each fact, checked against `FIELDS`."""
    tokens = _Tokens(path)
    while (relation := tokens.next()).kind != "end":
        if relation.text not in FIELDS:
            tokens.fail(relation, f"a fact about {', '.join(FIELDS)}")
        tokens.expect("(")
        fields: list[Field] = []
        for kind in FIELDS[relation.text].split():
            if fields:
                tokens.expect(",")
            fields.append(tokens.field(kind))
        tokens.expect(")")
        tokens.expect(".")
        yield relation.text, tuple(fields)


class _Tokens:
    """The tokens of a file, and errors about them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tokens = self._split()

    def _split(self) -> Iterator[_Token]:
        line = 0
        for line, text in read_lines(self.path):
            if text is None:
                raise DataError(f"{self.path}:{line}: not UTF-8")
            place = 0
            while place < len(text):
                match = _TOKEN.match(text, place)
                if match is None:
                    raise DataError(f"{self.path}:{line}: expected Prolog facts, found {text[place]!r}")
                if match.lastgroup:
                    yield _Token(match.lastgroup, match[0], line)
                place = match.end()
        yield _Token("end", "the end of the file", line)

    def next(self) -> _Token:
        return next(self.tokens)

    def fail(self, token: _Token, expected: str) -> NoReturn:
        raise DataError(f"{self.path}:{token.line}: expected {expected}, found {token.text}")

    def expect(self, mark: str) -> None:
        token = self.next()
        if token.text != mark:
            self.fail(token, mark)

    def field(self, kind: str) -> Field:
        token = self.next()
        if kind == "names" and token.text == "[":
            return tuple(self._names())
        if kind == "number" and token.kind == "number":
            return float(token.text) if re.search("[.eE]", token.text) else int(token.text)
        if kind != "name":
            self.fail(token, "a list of names" if kind == "names" else "a number")
        return self._name(token)

    def _names(self) -> Iterator[str]:
        token = self.next()
        while token.text != "]":
            yield self._name(token)
            token = self.next()
            if token.text == ",":
                token = self.next()
            elif token.text != "]":
                self.fail(token, ", or ]")

    def _name(self, token: _Token) -> str:
        if token.kind == "quoted":
            return token.text[1:-1].replace("''", "'")
        if token.kind != "word":
            self.fail(token, "a name")
        return token.text
