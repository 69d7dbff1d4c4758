"""Reads GBNF, the grammars of llama.cpp: expressions over characters, in which blanks are explicit."""

import re

from ftor.grammar.expressions import Expression, Name, Other, Reader, Source, Text
from ftor.grammar.reading import Rule
from ftor.grammar.tokens import token_rules

START = "root"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_HEAD = re.compile(r"[A-Za-z0-9_-]+[ \t]*::=")


def read_gbnf(text: str, name: str) -> list[Rule]:
    """The rules of a GBNF file over the words between the blanks of its texts."""
    source = Source(text.removeprefix("\ufeff"), name)
    reader = _Gbnf(source)
    rules: dict[str, Expression] = {}
    reader.skip(True)
    while reader.ahead():
        start = reader.at
        head = reader.name("the name of a rule")
        reader.skip(False)
        reader.expect("::=")
        reader.skip(True)
        body = reader.alternatives(nested=False)
        if reader.ahead() not in ("", "\n"):
            reader.fail(f"expected the end of the rule, found {reader.found()}")
        reader.skip(True)
        if head in rules:  # the last one counts in llama.cpp, which is hardly what is meant
            source.fail(f"rule {head!r} is there twice", start)
        rules[head] = body
    return token_rules(rules, START, source)


class _Gbnf(Reader):
    NAME = _NAME

    def skip(self, nested: bool) -> None:
        while letter := self.ahead():
            if letter == "#":
                while self.ahead() not in ("", "\n"):
                    self.at += 1
            elif letter in " \t\r" or (letter == "\n" and (nested or self.goes_on())):
                self.at += 1
            else:
                return

    def part(self, nested: bool) -> Expression | None:
        start, letter = self.at, self.ahead()
        if letter == '"':
            return Text((self.string(),), start)
        if self.take("["):
            return self.characters(start)
        if self.take("."):
            return Other(frozenset(), start)
        if self.take("("):
            inner = self.alternatives(nested=True)
            self.expect(")", "')'")
            return inner
        if letter in ("<", "!"):
            self.fail(
                "expected characters, found a token of a vocabulary, which belongs to one language model"
            )
        if _NAME.match(self.source.text, start) and not _HEAD.match(self.source.text, start):
            return Name(self.name("a name"), start)
        if letter and letter not in "|)\n" and not _HEAD.match(self.source.text, start):
            self.fail(f"expected a name, a string, [ or (, found {self.found()}")
        return None

    def repeated(self, part: Expression) -> Expression | None:
        start = self.at
        return self.braces(part, start) if self.take("{") else self.mark(part)
