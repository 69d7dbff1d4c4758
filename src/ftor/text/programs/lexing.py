"""Cuts texts of programs into lexemes, and says which dialects of a notation they may be in."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ftor.errors import FtorError

Lexeme = tuple[str, str]
"""The class of a lexeme, which decides the space around it, and its text."""

_QUOTED = r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.|'')*' """
BETWEEN = "between"
"""The class of what stands between the programs of a line."""
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_NOTHING = "(?!)"
_KEY = r"[^\W\d][\w.-]*\s*=(?!=)"
MARKS = {"s-expression": r"()", "calls": r"()\[\],", "json": r"\[\]{},:", "prefix": ""}
"""By notation, its brackets and separators, as a regular expression has them in a class."""


class ProgramError(FtorError):
    """A text that is not a program in the notation.

    Attributes:
        line: its number, from 1, if it is one of several texts.
    """

    line = 0


class Dialect(NamedTuple):
    """What programs have beside the brackets of their notation.

    Attributes:
        keys: whether arguments of calls can have a name, as in `book(city='Paris')`.
        between: what stands between the programs of a line: a mark, or `""` for nothing but space. None if
            each line is one program.
        ends: whether the mark also follows the last program.
    """

    keys: bool = False
    between: str | None = None
    ends: bool = False


PLAIN = Dialect()


@lru_cache
def _lexer(name: str, dialect: Dialect) -> re.Pattern[str]:
    """A mark, a key or an atom, and the space after it."""
    marks = MARKS[name] + (dialect.between or "")
    ends = rf"(?=[\s()\[\]{{}},:{dialect.between or ''}]|$)"
    atoms = {
        "json": r""" "(?:[^"\\]|\\.)*" | [^\s\[\]{},:"]+ """,
        "prefix": r"\S+",
    }
    atom = atoms.get(name, rf"(?:{_QUOTED}){ends} | [^\s{marks}]+")
    mark = f"[{marks}]" if marks else _NOTHING
    key = _KEY if dialect.keys else _NOTHING
    return re.compile(rf"(?:({mark})|({key})|({atom}))(\s*)", re.X)


def lex(name: str, text: str, dialect: Dialect = PLAIN) -> tuple[list[Lexeme], list[str]]:
    """The lexemes of a text, and the space after each."""
    if not text.strip():
        raise ProgramError("the program is empty")
    if text != text.strip():
        raise ProgramError("the program begins or ends with a space")
    matches = _lexer(name, dialect).findall(text)
    lexemes = [("atom", atom) if atom else (mark or "key", mark or key) for mark, key, atom, _ in matches]
    spaces = [space for *_, space in matches]
    if len("".join(spaces)) + sum(len(lexeme) for _, lexeme in lexemes) != len(text):
        raise ProgramError("it has a character that the notation does not know")
    return (
        (lexemes, spaces) if dialect.between is None else _with_ends(name, lexemes, spaces, dialect.between)
    )


def _with_ends(
    name: str, lexemes: Sequence[Lexeme], spaces: Sequence[str], between: str
) -> tuple[list[Lexeme], list[str]]:
    """The same with what stands between programs in a class of its own: the space may differ there.

    Calls with nothing else between them need a space: `(1+2)*(3+4)` and `f(a)(b)` are no two programs.
    """
    found: list[Lexeme] = []
    after: list[str] = []
    depth = 0
    for place, ((kind, text), space) in enumerate(zip(lexemes, spaces, strict=True), 1):
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth or kind not in (between, *_CLOSING):
            found.append((kind, text))
        elif kind == between:
            found.append((BETWEEN, text))
        else:
            found.append((kind, text))
            if not between and place < len(lexemes) and (space or name != "calls"):
                found.append((BETWEEN, ""))
                after.append("")
        after.append(space)
    return found, after


def possible_dialects(name: str, texts: Sequence[str]) -> list[Dialect]:
    """The dialects that texts in a notation may have, the most likely one first."""
    keys, marks = [False], list[str]()
    if name == "calls":
        keys = [True, False] if any(re.search(rf"(?<![\w.-]){_KEY}", text) for text in texts) else keys
        marks = [",", ""]
    elif name == "s-expression":
        marks = [""]
    if marks and any(";" in text for text in texts):
        marks = [";", *marks]
    ends = bool(texts) and all(text.rstrip().endswith(";") for text in texts)
    return [Dialect(has_keys, mark, mark == ";" and ends) for has_keys in keys for mark in (None, *marks)]
