"""Reads grammars of the Lark parser: rules and terminals over characters.

Where the file ignores blanks (`%ignore " "` or `%ignore WS`), each terminal of a rule is one word, or several
if it contains blanks. Else words are what stands between the blanks that the file writes out.
"""

import re
from itertools import product

from ftor.grammar.expressions import (
    BLANKS,
    Expression,
    Name,
    Other,
    Reader,
    Repeat,
    Row,
    Source,
    Text,
)
from ftor.grammar.reading import LARGEST_RANGE, Rule
from ftor.grammar.tokens import token_rules

START = "start"
_RULE = re.compile(r"([?!]*)(_?[a-z][_a-z0-9]*|_?[A-Z][_A-Z0-9]*)(\.-?\d+)?[ \t]*:")
_NAME = re.compile(r"_?[a-z][_a-z0-9]*|_?[A-Z][_A-Z0-9]*")
_IMPORT = re.compile(
    r"[ \t]*(\.?[\w.]+?)\.(?:\(([\w ,\t]+)\)|(\w+))(?:[ \t]*->[ \t]*(\w+))?[ \t]*(?=\n|$|//)"
)
_DIGITS, _LOWER, _UPPER = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COMMON = {
    "DIGIT": _DIGITS,
    "HEXDIGIT": "abcdefABCDEF" + _DIGITS,
    "LCASE_LETTER": _LOWER,
    "UCASE_LETTER": _UPPER,
    "LETTER": _UPPER + _LOWER,
}
"""Lark's own terminals of finitely many words."""
COMMON_BLANKS = {"WS": BLANKS, "WS_INLINE": " \t", "NEWLINE": "\r\n", "CR": "\r", "LF": "\n"}


_EDGE = "%edge"
"""The name of a rule around each terminal of a rule: a blank if blanks are ignored, or nothing."""


def read_lark(text: str, name: str) -> list[Rule]:
    """The rules of a Lark file over words. Texts start with `start`, or else with the first rule."""
    source = Source(text.removeprefix("\ufeff"), name)
    reader = _Lark(source)
    rules = reader.file()
    first = next((head for head in rules if not _is_terminal(head)), START)
    rules[_EDGE] = Text((" ",) if reader.ignores else ("",))
    return token_rules(rules, START if START in rules else first, source)


def _is_terminal(name: str) -> bool:
    return name.isupper()


class _Lark(Reader):
    """Attributes:
    ignores: whether blanks are ignored.
    """

    NAME = _NAME

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.ignores = False
        self._rules: dict[str, Expression] = {}
        self._in_rule = False

    def file(self) -> dict[str, Expression]:
        self.skip(True)
        while self.ahead():
            start = self.at
            if self.take("%"):
                self._directive(start)
            else:
                self._rule(start)
            if self.ahead() not in ("", "\n"):
                self.fail(f"expected the end of the line, found {self.found()}")
            self.skip(True)
        return self._rules

    def _rule(self, start: int) -> None:
        head = _RULE.match(self.source.text, start)
        if head is None:
            name = _NAME.match(self.source.text, start)
            if name is not None and self.source.text[name.end() :].startswith("{"):
                self.fail(
                    "expected ':' after the name, found a template, which is not context-free", name.end()
                )
            self.fail(f"expected 'name: …' or 'NAME: …', found {self.found()}")
        self.at = head.end()
        self._in_rule = not _is_terminal(head[2])
        self._define(head[2], self.alternatives(nested=False), start)

    def _define(self, name: str, body: Expression, start: int) -> None:
        if name in self._rules:
            self.source.fail(f"rule {name!r} is there twice", start)
        self._rules[name] = body

    def _directive(self, start: int) -> None:
        word = re.compile(r"\w*").match(self.source.text, self.at)
        assert word is not None
        self.at = word.end()
        if word[0] == "ignore":
            self._in_rule = False
            self.skip(False)
            self._ignore(self.alternatives(nested=False), start)
        elif word[0] == "import":
            self._import(start)
        else:
            self.fail(f"expected %ignore or %import, found %{word[0]}", start)

    def _ignore(self, what: Expression, start: int) -> None:
        while isinstance(what, Repeat):
            what = what.part
        if isinstance(what, Name):
            if what.name not in self._rules:
                self.fail(f"expected a terminal that is defined above, found {what.name!r}", what.at)
            self._ignore(self._rules[what.name], start)
        elif isinstance(what, Text) and all(option.isspace() for option in what.options):
            self.ignores = True
        else:
            self.fail(
                "expected blanks, because words are what stands between them, found other characters", start
            )

    def _import(self, start: int) -> None:
        match = _IMPORT.match(self.source.text, self.at)
        if match is None:
            self.fail("expected %import common.NAME, found something else", start)
        module, several, one, alias = match.groups()
        if module != "common":
            self.fail(
                f"expected %import common.NAME, found the module {module!r}; grammars are one file", start
            )
        self.at = match.end()
        for name in [one] if one else [part.strip() for part in several.split(",")]:
            if name in COMMON_BLANKS:
                body: Expression = Repeat(Text(tuple(COMMON_BLANKS[name]), start), 1, None, start)
            elif name in COMMON:
                body = Text(tuple(COMMON[name]), start)
            else:
                known = ", ".join([*COMMON, *COMMON_BLANKS])
                self.fail(f"expected a terminal of finitely many words ({known}), found {name!r}", start)
            self._define(alias or name, body, start)

    def skip(self, nested: bool) -> None:
        while letter := self.ahead():
            if self.ahead(2) == "//" or letter == "#":
                while self.ahead() not in ("", "\n"):
                    self.at += 1
            elif letter in " \t\r" or (letter == "\n" and (nested or self.goes_on())):
                self.at += 1
            elif self.take("->"):  # an alias: the name of a node, which no text shows
                self.skip(False)
                self.name("a name")
            else:
                return

    def part(self, nested: bool) -> Expression | None:
        start, letter = self.at, self.ahead()
        for opening, closing in (("(", ")"), ("[", "]")):
            if self.take(opening):
                inner = self.alternatives(nested=True)
                self.expect(closing, repr(closing))
                return inner if opening == "(" else Repeat(inner, 0, 1, start)
        if letter == '"':
            return self._terminal(self._string_or_range(start), start)
        if letter == "/":
            return self._terminal(self._regular(start), start)
        if _NAME.match(self.source.text, start):
            name = Name(self.name("a name"), start)
            if self.ahead() == "{":
                self.fail("expected a name, found a template, which is not context-free", start)
            return self._terminal(name, start) if _is_terminal(name.name) else name
        if letter and letter not in "|)]\n":
            self.fail(f"expected a name, a string, a regular expression, [ or (, found {self.found()}")
        return None

    def _terminal(self, body: Expression, start: int) -> Expression:
        return Row((Name(_EDGE, start), body, Name(_EDGE, start)), start) if self._in_rule else body

    def _string_or_range(self, start: int) -> Text:
        first = self.string()
        if self.ahead(2) == "..":
            self.at += 2
            if self.ahead() != '"':
                self.fail(f"expected a string, found {self.found()}")
            last = self.string()
            if len(first) != 1 or len(last) != 1 or last < first or ord(last) - ord(first) >= LARGEST_RANGE:
                self.fail(f"expected two characters in order, found {first!r} and {last!r}", start)
            return Text(tuple(map(chr, range(ord(first), ord(last) + 1))), start)
        if not self.take("i"):
            return Text((first,), start)
        letters = [sorted({letter.lower(), letter.upper()}) for letter in first]
        if 2 ** sum(len(both) > 1 for both in letters) > LARGEST_RANGE:
            self.fail(f"expected at most {LARGEST_RANGE} words, found more in both cases of letters", start)
        return Text(tuple(map("".join, product(*letters))), start)

    def _regular(self, start: int) -> Expression:
        end = start + 1
        while self.source.text[end : end + 1] not in ("/", "", "\n"):
            end += 2 if self.source.text[end] == "\\" else 1
        if self.source.text[end : end + 1] != "/":
            self.fail("expected a closing /", start)
        inside = _Regular(self.source, start + 1, end)
        body = inside.alternatives(nested=True)
        if inside.at < end:
            inside.fail(f"expected the end of the regular expression, found {inside.found()}")
        self.at = end + 1
        if self.ahead() and self.ahead() in "imslux":
            self.fail("expected no flag after a regular expression")
        return body

    def repeated(self, part: Expression) -> Expression | None:
        if more := self.mark(part):
            return more
        start = self.at
        if not self.take("~"):
            return None
        while self.ahead() and self.ahead() in " \t":
            self.at += 1
        least = self.number()
        most = self.number() if self.take("..") else least
        if most < least:
            self.fail(f"expected the smaller number first, found {least} and {most}", start)
        return Repeat(part, least, most, part.at)


class _Regular(Reader):
    """The regular expressions that derive finitely many words, and `\\S+`."""

    def skip(self, nested: bool) -> None:
        """Pass nothing: blanks are characters."""

    def part(self, nested: bool) -> Expression | None:
        start, letter = self.at, self.ahead()
        if not letter or letter in "|)":
            return None
        if self.take("["):
            return self.characters(start)
        if self.take("("):
            if self.take("?") and not self.take(":"):
                self.fail("expected (…) or (?:…), found another group", start)
            inner = self.alternatives(nested=True)
            self.expect(")", "')'")
            return inner
        if self.take("."):
            return Other(frozenset("\n"), start)
        if letter in "^$*+?{":
            self.fail(f"expected a character, found {letter!r}", start)
        if self.take("\\S"):
            return Other(frozenset(BLANKS), start)
        return Text(tuple(self.letter()), start)

    def escape(self, start: int) -> str:
        if self.take("d"):
            return _DIGITS
        if self.take("s"):
            return BLANKS
        return super().escape(start)

    def repeated(self, part: Expression) -> Expression | None:
        start = self.at
        return self.braces(part, start) if self.take("{") else self.mark(part)
