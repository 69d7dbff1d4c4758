"""Writes rules as text: in the notation of `ftor.grammar.reading`, in Lark's and in GBNF.

Lark and GBNF derive characters. There the words of a string are separated by exactly one space, which the
rules write out, so that a parser or a language model that follows them writes what `" ".join(words)` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ftor.grammar.normal_form import nullable_symbols
from ftor.grammar.reading import COPY, EMPTY, Part, Rule, Words

Format = Literal["cfg", "lark", "gbnf"]
WIDTH = 100
QUOTES = frozenset({"'", '"'})
"""Words that stand around the words of a name in programs."""
Row = list[tuple[Part, bool]]
"""What is written with a separator between two parts. A part that is marked with True may be left out."""


def quoted(word: str) -> str:
    """A word as the notation of grammars quotes it."""
    doubled = word.replace("'", "''")
    return f"'{doubled}'"


def write_cfg(rules: Sequence[Rule]) -> tuple[str, list[int]]:
    """The text of rules in our own notation, and for each of its lines the line of the rule."""
    taken = {rule.name for rule in rules}
    lines: list[tuple[str, int]] = []
    named: dict[Words, str] = {}
    for name, alternatives in _by_name(rules).items():
        bodies: dict[str, int] = {}
        for rule in alternatives:
            if len(rule.parts) == 1 and isinstance(rule.parts[0], Words):
                bodies |= {body: rule.line for body in _choices(rule.parts[0]) if body not in bodies}
                continue
            for part in rule.parts:
                if isinstance(part, Words) and part not in named and len(_choices(part)) > 1:
                    named[part] = _free(f"{name}_words", taken)
            written = (_cfg_part(part, named) for part in rule.parts)
            bodies.setdefault(" ".join(written) or EMPTY, rule.line)
        lines += _cfg_rule(name, bodies)
    for words, name in named.items():
        lines += _cfg_rule(name, dict.fromkeys(_choices(words), 1))
    return "".join(f"{line}\n" for line, _ in lines), [number for _, number in lines]


def _cfg_part(part: Part, named: Mapping[Words, str]) -> str:
    if isinstance(part, str):
        return part
    return named[part] if part in named else _choices(part)[0]


def _choices(part: Words) -> list[str]:
    return [*map(quoted, part.words), *[COPY] * part.copy]


def _cfg_rule(name: str, bodies: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """The lines of a rule. Words from the same line share lines."""
    line, number = f"{name} ->", 0
    margin = " " * (len(name) + 2) + "|"
    for body, place in bodies.items():
        shared = " " not in body and place == number and len(line) + len(body) + 3 <= WIDTH
        if number and not shared:
            yield line, number
            line = margin
        line += f" | {body}" if number and shared else f" {body}"
        number = place
    yield line, number


def _by_name(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.name, []).append(rule)
    return found


def _free(base: str, taken: set[str]) -> str:
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}{number}"
    taken.add(name)
    return name


def joined(rules: Sequence[Rule]) -> dict[str, list[Row]]:
    """For each name its strings that are not empty, as rows of parts that a separator can stand between.

    A part that can be empty is optional unless it is the first. So there is a row for each part that can be
    the first that is not empty. Names that derive only the empty string are left out.
    """
    nullable = nullable_symbols([(rule.name, rule.parts) for rule in rules])
    filled: set[str] = set()
    before = -1
    while before != (before := len(filled)):
        for rule in rules:
            if any(isinstance(part, Words) or part in filled for part in rule.parts):
                filled.add(rule.name)
    rows: dict[str, list[Row]] = {rule.name: [] for rule in rules if rule.name in filled}
    for rule in rules:
        parts = [part for part in rule.parts if isinstance(part, Words) or part in filled]
        for place, part in enumerate(parts):
            row: Row = [(part, False), *((other, other in nullable) for other in parts[place + 1 :])]
            if row not in rows[rule.name]:
                rows[rule.name].append(row)
            if part not in nullable:
                break
    return rows


@dataclass(frozen=True)
class _Style:
    """How a format is written.

    Attributes:
        start: the name of its first rule.
        copy: the name of the rule of a word that is copied.
        any_word: what derives any word.
        arrow: between a name and its alternatives.
        bar: between alternatives that are on lines of their own.
        comment: what a comment starts with.
        joint: between the words of a name.
        merges: whether strings in a row are written as one.
        loops: whether rules that begin with themselves are written as loops, because readers refuse them.
        quotes: whether there is no space between a quote and the words inside.
    """

    start: str
    copy: str
    any_word: str
    arrow: str
    bar: str
    comment: str
    joint: str
    merges: bool
    loops: bool
    quotes: bool = False


STYLES = {
    "lark": _Style("start", "COPY", r"/\S+/", ": ", "\n    | ", "//", "_", merges=False, loops=False),
    "gbnf": _Style("root", "copy", r"[^ \t\n\r]+", " ::= ", " |\n    ", "#", "-", merges=True, loops=True),
}


def write_characters(
    rules: Sequence[Rule],
    format_: Literal["lark", "gbnf"],
    sentence: Sequence[str] | None = None,
    quotes: bool = False,
) -> str:
    """The text of rules in Lark's notation or in GBNF.

    Args:
        rules: the rules over words.
        format_: the notation.
        sentence: the words that `@copy` stands for. If None, it stands for any word.
        quotes: whether there is no space between a quote and the words inside.
    """
    style = STYLES[format_]
    if quotes:
        style, rules = replace(style, quotes=True), _with_plain_quotes(rules)
    rows = joined(rules)
    first = rules[0].name
    empty = first in nullable_symbols([(rule.name, rule.parts) for rule in rules])
    names = _names(rows, None if empty else first, style)
    but = ", but for quotes and the words inside" if quotes else ""
    lines = [f"{style.comment} Words are separated by one space{but}."]
    if style.loops and (circles := left_recursive(rules)):
        recursive = ", ".join(names[name] for name in circles)
        lines.append(
            f"{style.comment} Left-recursive through other rules, which llama.cpp refuses: {recursive}."
        )
    if empty:
        lines.append(f"{style.start}{style.arrow}{names[first]}?")
    for name, some in rows.items():
        alternatives = [_row(row, names, style) for row in some if not style.loops or row[0][0] != name]
        tails = [tail for row in some if row[0][0] == name for tail in _tails(row[1:])]
        if style.loops and tails:
            more = " | ".join(dict.fromkeys(_row(tail, names, style, after=True) for tail in tails))
            alternatives = [f"({' | '.join(alternatives)}) ({more})*"]
        lines.append(_characters_rule(names[name], alternatives, style))
    if any(isinstance(part, Words) and part.copy for rule in rules for part in rule.parts):
        lines += _copy_rule(style, sentence)
    return "\n".join(lines) + "\n"


def _with_plain_quotes(rules: Sequence[Rule]) -> list[Rule]:
    """Rules in which a name whose only string is a quote is that quote."""
    alone: dict[Part, Part] = {
        name: some[0].parts[0]
        for name, some in _by_name(rules).items()
        if len(some) == len(some[0].parts) == 1 and _word(some[0].parts[0]) in QUOTES
    }
    kept = (rule for rule in rules if rule.name not in alone or rule is rules[0])
    return [replace(rule, parts=tuple(alone.get(part, part) for part in rule.parts)) for rule in kept]


def _tails(row: Row) -> Iterator[Row]:
    """What can follow the first part of a row without being empty."""
    for place, (part, optional) in enumerate(row):
        yield [(part, False), *row[place + 1 :]]
        if not optional:
            break


def left_recursive(rules: Sequence[Rule]) -> list[str]:
    """The names that begin with themselves through other rules. One rule alone can be written as a loop."""
    firsts = {
        name: {row[0][0] for row in some if isinstance(row[0][0], str)} - {name}
        for name, some in joined(rules).items()
    }
    found = []
    for name in firsts:
        reached, waiting = set[Part](), list(firsts[name])
        while waiting:
            part = waiting.pop()
            if part not in reached:
                reached.add(part)
                waiting += firsts[str(part)]
        found += [name] * (name in reached)
    return found


def _copy_rule(style: _Style, sentence: Sequence[str] | None) -> list[str]:
    if sentence is None:
        return [
            f"{style.comment} Any word. It should be one of the sentence.",
            style.copy + style.arrow + style.any_word,
        ]
    words = [_string(word) for word in dict.fromkeys(sentence)]
    return [f"{style.comment} A word of the sentence.", _characters_rule(style.copy, words, style)]


def _characters_rule(name: str, alternatives: Sequence[str], style: _Style) -> str:
    line = name + style.arrow + " | ".join(alternatives)
    return line if len(line) <= WIDTH else name + style.arrow + style.bar.join(alternatives)


def _row(row: Row, names: Mapping[str, str], style: _Style, after: bool = False) -> str:
    """A row with spaces between its parts, and `after` other parts with one before it."""
    if len(row) == 1 and not after:
        return _character_part(row[0][0], names, style, alone=True)
    pieces: list[str] = []
    spaces = _spaces([part for part, _ in row], style)
    for number, (part, optional) in enumerate(row):
        written = _character_part(part, names, style, alone=False)
        space = ['" "'] * (after if number == 0 else spaces[number])
        if optional:
            pieces.append(f"({' '.join([*space, written])})?")
        else:
            pieces += [*space, written]
    return " ".join(_merged(pieces) if style.merges else pieces)


def _spaces(parts: Sequence[Part], style: _Style) -> list[bool]:
    """Whether a space stands before each part."""
    return spaces_before([*map(_word, parts)]) if style.quotes else [True] * len(parts)


def _word(part: Part) -> str:
    """The word that a part is, or an empty string if it can be several."""
    return part.words[0] if isinstance(part, Words) and len(part.words) == 1 and not part.copy else ""


def spaces_before(words: Sequence[str]) -> list[bool]:
    """Whether a space stands before each word, if there is none between a quote and the words inside."""
    spaces, opened, after_quote = list[bool](), "", False
    for word in words:
        closes = bool(opened) and word == opened
        spaces.append(not (closes or after_quote))
        after_quote = not opened and word in QUOTES
        opened = "" if closes else word if after_quote else opened
    return spaces


def with_quotes(words: Sequence[str]) -> str:
    """Words as text, with one space between two of them but for quotes and the words inside."""
    spaces = spaces_before(words)
    return "".join(f" {word}" if space else word for word, space in zip(words, spaces, strict=True)).strip()


def _merged(pieces: Iterable[str]) -> Iterator[str]:
    """Strings in a row as one string."""
    last = ""
    for piece in pieces:
        if piece.startswith('"') and last:
            last = last[:-1] + piece[1:]
        elif piece.startswith('"'):
            last = piece
        else:
            yield from [last] * bool(last)
            yield piece
            last = ""
    yield from [last] * bool(last)


def _character_part(part: Part, names: Mapping[str, str], style: _Style, alone: bool) -> str:
    if isinstance(part, str):
        return names[part]
    choices = [*map(_string, part.words), *[style.copy] * part.copy]
    written = " | ".join(choices)
    return written if alone or len(choices) == 1 else f"({written})"


def _string(word: str) -> str:
    """A string with the escapes that both notations know."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or ord(c) == 127 else c for c in escaped) + '"'


def _names(rows: Iterable[str], first: str | None, style: _Style) -> dict[str, str]:
    """Names in lower case that both notations allow; that of `first` is where the format starts."""
    taken = {style.start, style.copy.lower()}
    names = {}
    for name in rows:
        split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
        words = re.sub(r"[^a-z0-9]+", " ", split.lower()).split()
        base = style.joint.join(words)
        if not base or not base[0].isalpha():
            base = style.joint.join(["rule", *words])
        names[name] = style.start if name == first else _free(base, taken)
    return names
