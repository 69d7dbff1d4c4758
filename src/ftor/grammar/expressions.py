"""Expressions over characters, as Lark, GBNF and regular expressions write them, and what reads them.

All three have alternatives, sequences, groups, repetitions, strings and classes of characters. Errors name
the file, the line and the column, and show the place.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NoReturn

from ftor.grammar.reading import LARGEST_RANGE, GrammarError

MOST_REPEATS = 1000
BLANKS = " \t\n\r\f\v"
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


@dataclass(frozen=True)
class Text:
    """Any of some strings. `at` is the place in the file, here and below."""

    options: tuple[str, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Other:
    """Any character but these."""

    excluded: frozenset[str]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class AnyWord:
    """One or more characters that are not blanks."""

    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Name:
    """What a rule derives."""

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Row:
    """One part after the other."""

    parts: tuple[Expression, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Choice:
    """One of several."""

    options: tuple[Expression, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Repeat:
    """The same part several times. Without `most`, any number of times."""

    part: Expression
    least: int
    most: int | None
    at: int = field(default=0, compare=False)


Expression = Text | Other | AnyWord | Name | Row | Choice | Repeat


class Source:
    """The text of a file, and how places in it are named."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name

    def line(self, at: int) -> int:
        """The number of the line of a place."""
        return self.text.count("\n", 0, at) + 1

    def fail(self, message: str, at: int) -> NoReturn:
        """Raise an error at a place, and show the place."""
        start = self.text.rfind("\n", 0, at) + 1
        line = self.text[start:].partition("\n")[0]
        under = "".join("\t" if letter == "\t" else " " for letter in line[: at - start])
        place = f"{self.name}:{self.line(at)}:{at - start + 1}"
        raise GrammarError(f"{place}: {message}\n    {line}\n    {under}^")


class Reader(ABC):
    """Reads alternatives, sequences and repetitions from left to right. Subclasses read the parts.

    Attributes:
        source: the file.
        at: the next character.
        end: where to stop.
        NAME: what names of rules look like.
    """

    NAME = re.compile(r"\w+")

    def __init__(self, source: Source, at: int = 0, end: int | None = None) -> None:
        self.source, self.at = source, at
        self.end = len(source.text) if end is None else end

    @abstractmethod
    def skip(self, nested: bool) -> None:
        """Pass blanks and comments; new lines too if `nested` in brackets."""

    @abstractmethod
    def part(self, nested: bool) -> Expression | None:
        """The next part, or None at the end of a sequence."""

    @abstractmethod
    def repeated(self, part: Expression) -> Expression | None:
        """The part with the mark of repetition that comes next, or None if none comes."""

    def alternatives(self, nested: bool) -> Expression:
        """Read up to what is no part: a closing bracket, or the end of a rule."""
        start = self.at
        options = [self._sequence(nested)]
        while self.take("|"):
            self.skip(True)
            options.append(self._sequence(nested))
        return options[0] if len(options) == 1 else Choice(tuple(options), start)

    def _sequence(self, nested: bool) -> Expression:
        self.skip(nested)
        start, parts = self.at, []
        while (part := self.part(nested)) is not None:
            self.skip(nested)
            while (more := self.repeated(part)) is not None:
                part = more
                self.skip(nested)
            parts.append(part)
        return parts[0] if len(parts) == 1 else Row(tuple(parts), start)

    def ahead(self, count: int = 1) -> str:
        """The next characters."""
        return self.source.text[self.at : min(self.at + count, self.end)]

    def take(self, mark: str) -> bool:
        """Pass a mark if it comes next."""
        if self.ahead(len(mark)) != mark:
            return False
        self.at += len(mark)
        return True

    def expect(self, mark: str, what: str = "") -> None:
        """Pass a mark that must come next."""
        if not self.take(mark):
            self.fail(f"expected {what or mark}, found {self.found()}")

    def found(self) -> str:
        """What comes next, for an error."""
        return {"": "the end of the file", "\n": "the end of the line"}.get(self.ahead(), repr(self.ahead()))

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise an error at a place, or here."""
        self.source.fail(message, self.at if at is None else at)

    def number(self) -> int:
        """Pass a number."""
        start = self.at
        while self.ahead() in "0123456789" and self.ahead():
            self.at += 1
        if start == self.at or self.at - start > 4 or int(self.source.text[start : self.at]) > MOST_REPEATS:
            self.fail(f"expected a number of at most {MOST_REPEATS}", start)
        return int(self.source.text[start : self.at])

    def mark(self, part: Expression) -> Expression | None:
        """The part with `?`, `*` or `+`, if one of them comes next."""
        for mark, least, most in (("?", 0, 1), ("*", 0, None), ("+", 1, None)):
            if self.take(mark):
                return Repeat(part, least, most, part.at)
        return None

    def braces(self, part: Expression, start: int) -> Expression:
        """The part with `{2}`, `{2,}` or `{2,5}`, whose opening brace is passed."""
        least = self.number()
        most: int | None = least
        if self.take(","):
            most = None if self.ahead() == "}" else self.number()
        self.expect("}", "'}'")
        if most is not None and most < least:
            self.fail(f"expected the smaller number first, found {least} and {most}", start)
        return Repeat(part, least, most, part.at)

    def characters(self, start: int) -> Expression:
        """A class of characters such as `[a-z_]` or `[^ ]`, whose opening bracket is passed."""
        excluding = self.take("^")
        letters: dict[str, None] = {}
        while not self.take("]"):
            if not self.ahead() or self.ahead() == "\n":
                self.fail("expected ], found " + self.found())
            place = self.at
            first = self.letter()
            if self.ahead() == "-" and self.ahead(2) != "-]" and len(first) == 1:
                self.at += 1
                last = self.letter()
                self._check_range(first, last, place)
                first = "".join(map(chr, range(ord(first), ord(last) + 1)))
            letters |= dict.fromkeys(first)
        if excluding:
            return Other(frozenset(letters), start)
        if not letters:
            self.fail("expected a character in [], found none", start)
        return Text(tuple(letters), start)

    def _check_range(self, first: str, last: str, place: int) -> None:
        if len(last) != 1 or ord(last) < ord(first):
            self.fail(f"expected the smaller character first, found {first!r} to {last!r}", place)
        if ord(last) - ord(first) >= LARGEST_RANGE:
            self.fail(f"expected at most {LARGEST_RANGE} characters, found {first!r} to {last!r}", place)

    def goes_on(self) -> bool:
        """Whether the next line starts with | and so continues the rule."""
        return self.source.text[self.at :].lstrip().startswith("|")

    def name(self, what: str) -> str:
        """Pass a name. `what` says in an error what it is for."""
        match = self.NAME.match(self.source.text, self.at)
        if match is None:
            self.fail(f"expected {what}, found {self.found()}")
        self.at = match.end()
        return match[0]

    def string(self) -> str:
        """Pass a string in quotes."""
        start = self.at
        self.at += 1
        letters = []
        while not self.take('"'):
            if self.ahead() in ("", "\n"):
                self.fail("expected a closing quote", start)
            letters.append(self.letter())
        return "".join(letters)

    def letter(self) -> str:
        """The next character of a string or a class, or what an escape stands for; `\\d` is ten of them."""
        letter = self.ahead()
        self.at += 1
        return letter if letter != "\\" else self.escape(self.at - 1)

    def escape(self, start: int) -> str:
        """What an escape stands for, whose backslash is passed."""
        letter = self.ahead()
        self.at += 1
        if letter in CONTROLS:
            return CONTROLS[letter]
        digits = {"x": 2, "u": 4, "U": 8}.get(letter)
        if digits is not None:
            code = self.ahead(digits)
            self.at += digits
            try:
                return chr(int(code, 16)) if len(code) == digits else self.fail("an unfinished escape", start)
            except (ValueError, OverflowError):
                self.fail(f"expected {digits} hexadecimal digits, found {code!r}", start)
        if not letter or letter.isalnum():
            self.fail(f"unknown escape \\{letter}", start)
        return letter
