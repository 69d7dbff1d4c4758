"""Reads the text of a context-free grammar into rules. Every error names file, line and symbol.

    # Programs for a small calendar. A comment starts where # starts a word.
    Query  -> Clause | Clause Query
    Clause -> 'GET' 'event' | 'COUNT' | 'TOP' Number
            | 'FILTER' 'event.location' 'eq' Place
    Place  -> @copy | @copy Place | City
    City   : boston | new york
    Number : 0..99 | @copy

`Name -> …` is a phrase rule: bare names are rules, quoted words are words of the output. `Name : …` is a
word rule: everything is words, and several in a row are that many tokens. `0..99` is any of the numbers.
`@copy` is any word of the sentence, `()` the empty string. `|` separates alternatives. Indented lines, and
lines that start with `|`, continue a rule. Rules of the same name add up. Strings start with the first rule.
Words with `|`, with quotes, or with another meaning are quoted. A doubled quote is one quote: `'it''s'`,
`"it's"`, `'|'`, `'#'`, `'@copy'`, `'1..5'`, `'()'`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ftor.errors import FtorError, nearest

COPY = "@copy"
EMPTY = "()"
LARGEST_RANGE = 10_000

_HEAD = re.compile(r"([^\W\d]\w*(?:[-.]\w+)*)\s*(->|:)")
_NAME = re.compile(r"[^\W\d]\w*(?:[-.]\w+)*")
_TOKEN = re.compile(
    r"""\s+ | (?P<comment>\#.*) | (?P<bar>\|)
    | '(?P<single>(?:[^']|'')*)' | "(?P<double>(?:[^"]|"")*)" | (?P<open>['"])
    | (?P<bare>[^\s|'"][^\s|]*)""",
    re.VERBOSE,
)
_RANGE = re.compile(r"([0-9]+)\.\.([0-9]+)")


class GrammarError(FtorError):
    """A grammar that cannot be used. The message names file, line and symbol."""


@dataclass(frozen=True)
class Words:
    """One token of the output: any of `words`, or any word of the sentence if `copy`."""

    words: tuple[str, ...]
    copy: bool = False

    def matches(self, word: str, sentence: frozenset[str]) -> bool:
        """Whether `word` may stand here, given the words of the sentence."""
        return word in self.words or (self.copy and word in sentence)

    def __str__(self) -> str:
        shown = [repr(word) for word in self.words] + [COPY] * self.copy
        return shown[0] if len(shown) == 1 else "{" + " ".join(shown) + "}"


Part = str | Words
"""A part of a rule: the name of a rule, or one token."""


@dataclass(frozen=True)
class Rule:
    """One alternative: `name` derives `parts` in a row."""

    name: str
    parts: tuple[Part, ...]
    line: int

    def __str__(self) -> str:
        return f"{self.name} -> {' '.join(map(str, self.parts)) or EMPTY}"


@dataclass(frozen=True)
class _Token:
    text: str
    line: int
    quoted: bool = False


def read_rules(text: str, name: str) -> list[Rule]:
    """The rules of a grammar's text, in order; `name` is the name of the grammar in error messages."""
    rules: list[Rule] = []
    for line, head, arrow, body in _statements(text, name):
        read_part = _phrase_part if arrow == "->" else _word_part
        for alternative in _alternatives(body, f"{name}:{line}: rule {head!r}"):
            if [token.text for token in alternative if not token.quoted] == [EMPTY] and len(alternative) == 1:
                rules.append(Rule(head, (), alternative[0].line))
                continue
            parts = tuple(read_part(token, f"{name}:{token.line}: rule {head!r}") for token in alternative)
            rules.append(Rule(head, parts, alternative[0].line))
    if not rules:
        raise GrammarError(f"{name}: no rules; a rule is written Name -> 'word' Other")
    _check(rules, name)
    return rules


def _statements(text: str, name: str) -> Iterator[tuple[int, str, str, list[_Token]]]:
    """Each rule's first line, name, arrow and tokens, its continuation lines included."""
    current: tuple[int, str, str, list[_Token]] | None = None
    for line, content in enumerate(textwrap.dedent(text.removeprefix("\ufeff")).split("\n"), 1):
        content = content.rstrip()
        stripped = content.lstrip()
        if not stripped or stripped.startswith("#"):
            continue
        where = f"{name}:{line}"
        if content[0].isspace() or content[0] == "|":
            if current is None:
                raise GrammarError(f"{where}: expected a rule to start at the left edge, found {stripped!r}")
            current[3].extend(_tokens(stripped, line, f"{where}: rule {current[1]!r}"))
            continue
        if current is not None:
            yield current
        head = _HEAD.match(content)
        if head is None:
            raise GrammarError(f"{where}: expected 'Name -> …' or 'Name : …', found {stripped!r}")
        symbol, arrow = head.groups()
        if arrow == ":" and content[head.end() :].startswith((":", "=")):
            raise GrammarError(f"{where}: rule {symbol!r}: expected -> or : after the name, found ::= or :=")
        current = line, symbol, arrow, list(_tokens(content[head.end() :], line, f"{where}: rule {symbol!r}"))
    if current is not None:
        yield current


def _tokens(content: str, line: int, where: str) -> Iterator[_Token]:
    at = 0
    while at < len(content):
        match = _TOKEN.match(content, at)
        if match is None or match["open"]:
            raise GrammarError(f"{where}: expected a closing quote, found {content[at:]!r}")
        at = match.end()
        quoted = match["single"] if match["single"] is not None else match["double"]
        if match["comment"]:
            return
        if quoted is not None:
            mark = content[match.start()]
            if at < len(content) and not (content[at].isspace() or content[at] == "|"):
                raise GrammarError(
                    f"{where}: expected a blank after {match[0]}, found {content[at:]!r}; "
                    f"inside {mark}…{mark} a quote is written {mark}{mark}"
                )
            yield _Token(_word(quoted.replace(mark * 2, mark), where), line, quoted=True)
        elif match["bar"] or match["bare"]:
            yield _Token(match[0], line)


def _word(text: str, where: str) -> str:
    if not text:
        raise GrammarError(
            f"{where}: expected a word in quotes, found nothing; write () for the empty string"
        )
    if any(character.isspace() for character in text):
        raise GrammarError(f"{where}: expected one word in quotes, found {text!r}; quote each word by itself")
    return text


def _alternatives(body: Sequence[_Token], where: str) -> list[list[_Token]]:
    alternatives: list[list[_Token]] = [[]]
    for token in body:
        if token.text == "|" and not token.quoted:
            alternatives.append([])
        else:
            alternatives[-1].append(token)
    if len(alternatives) > 1 and not alternatives[0]:
        del alternatives[0]  # a rule whose alternatives each start with | on a line of their own
    if not all(alternatives):
        raise GrammarError(f"{where}: expected an alternative, found nothing; write () for the empty string")
    return alternatives


def _phrase_part(token: _Token, where: str) -> Part:
    if token.quoted:
        return Words((token.text,))
    if token.text == COPY:
        return Words((), copy=True)
    if not _NAME.fullmatch(token.text):
        _refuse_misplaced(token, where)
        raise GrammarError(f"{where}: expected a name or a word in quotes, found {token.text!r}")
    return token.text


def _word_part(token: _Token, where: str) -> Part:
    if token.quoted:
        return Words((token.text,))
    if token.text == COPY:
        return Words((), copy=True)
    _refuse_misplaced(token, where)
    if token.text.startswith("@"):
        raise GrammarError(f"{where}: expected @copy, found {token.text!r}; quote it if it is a word")
    if ends := _RANGE.fullmatch(token.text):
        return Words(_numbers(ends[1], ends[2], where))
    return Words((token.text,))


def _refuse_misplaced(token: _Token, where: str) -> None:
    if token.text in ("->", ":"):
        raise GrammarError(
            f"{where}: expected one {token.text!r} per rule, found another; a rule starts at the left edge, "
            "and words are quoted"
        )
    if token.text == EMPTY:
        raise GrammarError(f"{where}: expected () as a whole alternative, found it beside other parts")


def _numbers(first: str, last: str, where: str) -> tuple[str, ...]:
    written = f"{first}..{last}"
    if any(number != "0" and number.startswith("0") for number in (first, last)):
        raise GrammarError(f"{where}: expected numbers without leading zeros, found {written!r}")
    # Compared by their digits first: int() refuses numbers of thousands of digits.
    if (len(first), first) > (len(last), last):
        raise GrammarError(f"{where}: expected the smaller number first, found {written!r}")
    if len(last) > 18 or int(last) - int(first) >= LARGEST_RANGE:
        raise GrammarError(f"{where}: expected at most {LARGEST_RANGE} numbers, found {written[:60]!r}")
    return tuple(str(number) for number in range(int(first), int(last) + 1))


def _check(rules: Sequence[Rule], name: str) -> None:
    """Raise if a name has no rule, or if a rule derives nothing or is not used."""
    first_lines: dict[str, int] = {}
    for rule in rules:
        first_lines.setdefault(rule.name, rule.line)
    for rule in rules:
        for part in rule.parts:
            if isinstance(part, str) and part not in first_lines:
                near = nearest(part, first_lines)
                hint = f"did you mean {near!r}?" if near else "quote it if it is a word"
                where = f"{name}:{rule.line}: rule {rule.name!r}"
                raise GrammarError(f"{where}: expected the name of a rule, found {part!r}; {hint}")
    productive = _productive(rules)
    for symbol, line in first_lines.items():
        if symbol not in productive:
            what = "start symbol" if symbol == rules[0].name else "rule"
            raise GrammarError(f"{name}:{line}: {what} {symbol!r} derives no string, because it never ends")
    reachable = reachable_names(rules)
    for symbol, line in first_lines.items():
        if symbol not in reachable:
            raise GrammarError(
                f"{name}:{line}: rule {symbol!r} is never used: it cannot be reached from {rules[0].name!r}"
            )


def _productive(rules: Sequence[Rule]) -> set[str]:
    productions = [(rule.name, [part for part in rule.parts if isinstance(part, str)]) for rule in rules]
    return closure(productions, set())


def closure(productions: Iterable[tuple[Any, Collection[Any]]], known: set[Any]) -> set[Any]:
    """What is known, and each left side of a production whose parts are known, in linear time."""
    closed, waiting = set(known), list(known)
    missing: list[int] = []  # for each production, how many of its different parts are not yet known
    left_sides: list[Any] = []
    uses: dict[Any, list[int]] = {}
    for number, (left, parts) in enumerate(productions):
        different = set(parts)
        missing.append(len(different))
        left_sides.append(left)
        for part in different:
            uses.setdefault(part, []).append(number)
        if not different and left not in closed:
            closed.add(left)
            waiting.append(left)
    while waiting:
        for number in uses.get(waiting.pop(), ()):
            missing[number] -= 1
            if not missing[number] and left_sides[number] not in closed:
                closed.add(left_sides[number])
                waiting.append(left_sides[number])
    return closed


def reachable_names(rules: Sequence[Rule]) -> set[str]:
    """The names that the start, the name of the first rule, needs."""
    uses: dict[str, set[str]] = {}
    for rule in rules:
        uses.setdefault(rule.name, set()).update(part for part in rule.parts if isinstance(part, str))
    reachable, waiting = {rules[0].name}, [rules[0].name]
    while waiting:
        new = uses[waiting.pop()] - reachable
        reachable |= new
        waiting.extend(new)
    return reachable
