"""A Markdown page whose tables come from the ledgers. Each table stands between two markers."""

import re
from collections.abc import Iterable
from pathlib import Path

from ftor.errors import FtorError
from ftor.files import write_text
from ftor.lab.paper import TABLES
from ftor.lab.tables import FURTHER
from ftor.show.results.formats import AnyTable, as_markdown

END = "<!-- end -->"
_MARKER = re.compile(r"^<!-- (?:ftor results: (.*)|end) -->$", re.M)
"""Must be a line of its own, so that a page can talk about markers."""


def begin(name: str) -> str:
    """Return the marker above a table."""
    return f"<!-- ftor results: {name} -->"


def update(path: Path, tables: Iterable[AnyTable]) -> bool:
    """Put the tables between their markers in a file. Returns whether the file changed."""
    old = path.read_text("utf-8")
    new = updated(old, tables, str(path))
    if new != old:
        write_text(path, new)
    return new != old


def outdated(path: Path, tables: Iterable[AnyTable]) -> list[str]:
    """Return the names of the tables in a page that are not what the ledgers say."""
    text = path.read_text("utf-8")
    places = _places(text, str(path))
    there = [table for table in tables if table.name in places]
    return [table.name for table in there if updated(text, [table], str(path)) != text]


def has_tables(path: Path) -> bool:
    """Return whether a page has a table between markers."""
    return bool(_places(path.read_text("utf-8"), str(path)))


def updated(text: str, tables: Iterable[AnyTable], file: str) -> str:
    """Return the text with the tables between their markers. Errors name `file`."""
    new = {table.name: table for table in tables}
    places = _places(text, file)
    missing = [begin(name) for name in new if name not in places]
    if missing:
        raise FtorError(f"{file}: no marker {', '.join(missing)}")
    parts, done = [], 0
    for name, (first, last) in places.items():
        if name in new:
            parts += [text[done:first], f"\n{as_markdown(new[name])}\n"]
            done = last
    return "".join([*parts, text[done:]])


def _places(text: str, file: str) -> dict[str, tuple[int, int]]:
    """Return where the text between the markers of each table begins and ends."""
    places: dict[str, tuple[int, int]] = {}
    opened: re.Match[str] | None = None
    for marker in _MARKER.finditer(text):
        line = f"{file}:{text.count(chr(10), 0, marker.start()) + 1}"
        name = marker[1]
        if (name is None) == (opened is None):
            expected = END if opened else begin("TABLE")
            raise FtorError(f"{line}: expected {expected}, found {marker[0]}")
        if opened is not None:
            places[opened[1]] = opened.end(), marker.start()
            opened = None
        elif name not in (*TABLES, *FURTHER):
            raise FtorError(f"{line}: no table {name}; there are {', '.join((*TABLES, *FURTHER))}")
        elif name in places:
            raise FtorError(f"{line}: the second marker {marker[0]}")
        else:
            opened = marker
    if opened is not None:
        raise FtorError(f"{file}: no {END} after {opened[0]}")
    return places
