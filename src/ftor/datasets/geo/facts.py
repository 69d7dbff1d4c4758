"""Reads the facts that geography queries are about, `geobase.pl`: one Prolog fact after another."""

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
"""The relations and what each of their fields holds."""

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
    """A state; `cities` are four of its larger ones."""

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


@dataclass(frozen=True, eq=False)  # compared and hashed as an object: answers are kept by their facts
class Facts:
    """All facts in the order of the file, which decides ties."""

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
    """Read the facts from where they are found first, or say where they were looked for."""
    path = require_file(FILE, data_folder, "the facts that queries are executed on")
    return _read_once(path.resolve(), path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read_once(path: Path, changed: int) -> Facts:
    return read(path)


def read(path: Path) -> Facts:
    """Read a file of facts; a `DataError` names the file, the line, what was expected and what was found."""
    rows: dict[str, list[tuple[Field, ...]]] = {relation: [] for relation in FIELDS}
    for relation, fields in _facts(path):
        rows[relation].append(fields)
    for relation in ("state", "city", "river", "border", "highlow"):
        if not rows[relation]:
            raise DataError(f"{path}: expected facts about {relation}, found none")
    return _arranged(rows)


def _arranged(rows: dict[str, list[tuple[Field, ...]]]) -> Facts:
    # _facts has checked each field against FIELDS, which the type checker cannot see
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
    """Each fact's relation and fields, checked against `FIELDS`."""
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
    """The tokens of a file one by one, and the errors about them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tokens = self._split()

    def _split(self) -> Iterator[_Token]:
        line = 0
        for line, text in read_lines(self.path):
            if text is None:
                raise DataError(f"{self.path}:{line}: expected UTF-8, found other bytes")
            place = 0
            while place < len(text):
                found = _TOKEN.match(text, place)
                if found is None:
                    raise DataError(f"{self.path}:{line}: expected Prolog facts, found {text[place]!r}")
                if found.lastgroup:
                    yield _Token(found.lastgroup, found[0], line)
                place = found.end()
        yield _Token("end", "the file's end", line)

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
