"""A page of Markdown whose tables come from the ledgers, each between two markers."""

import re
from collections.abc import Iterable
from pathlib import Path

from ftor.errors import FtorError
from ftor.lab.paper import TABLES
from ftor.lab.tables import ResultTable
from ftor.show.results.formats import as_markdown

END = "<!-- end -->"
_MARKER = re.compile(r"^<!-- (?:ftor results: (.*)|end) -->$", re.M)
"""A line of its own, so that a page can talk about markers."""


def begin(name: str) -> str:
    """The marker that a table stands below."""
    return f"<!-- ftor results: {name} -->"


def update(path: Path, tables: Iterable[ResultTable]) -> bool:
    """Put the tables between their markers; return whether that changed anything."""
    from ftor.files import write_text

    old = path.read_text("utf-8")
    new = updated(old, tables, str(path))
    if new != old:
        write_text(path, new)
    return new != old


def updated(text: str, tables: Iterable[ResultTable], where: str) -> str:
    """The text with the tables between their markers; `where` it is from, for complaints."""
    wanted = {table.name: table for table in tables}
    parts, done, places = [], 0, _places(text, where)
    missing = [begin(name) for name in wanted if name not in places]
    if missing:
        raise FtorError(f"{where}: expected the markers {', '.join(missing)}, found none")
    for name, (first, last) in places.items():
        if name in wanted:
            parts += [text[done:first], f"\n{as_markdown(wanted[name])}\n"]
            done = last
    return "".join([*parts, text[done:]])


def _places(text: str, where: str) -> dict[str, tuple[int, int]]:
    """By table: where the text between its markers begins and ends."""
    found: dict[str, tuple[int, int]] = {}
    opened: re.Match[str] | None = None
    for marker in _MARKER.finditer(text):
        line = f"{where}:{text.count(chr(10), 0, marker.start()) + 1}"
        if (marker[1] is None) == (opened is None):
            expected = END if opened else begin("TABLE")
            raise FtorError(f"{line}: expected {expected}, found {marker[0]}")
        if opened is None:
            if marker[1] not in TABLES:
                raise FtorError(f"{line}: expected a table of {', '.join(TABLES)}, found {marker[0]}")
            if marker[1] in found:
                raise FtorError(f"{line}: expected {marker[0]} once, found it again")
            opened = marker
        else:
            found[opened[1]] = opened.end(), marker.start()
            opened = None
    if opened is not None:
        raise FtorError(f"{where}: expected {END} after {opened[0]}, found none")
    return found
