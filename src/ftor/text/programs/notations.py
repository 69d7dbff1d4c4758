"""Notations of programs, read into trees and written back: s-expressions, calls, JSON and prefix order.

A program is a list of nodes in prefix order. Each node says how many children follow it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ftor.text.programs.arities import solve_arities
from ftor.text.programs.parsing import LEXERS, PARSERS, Lexeme, Node, Program, ProgramError, lex, parse_prefix

NOTATIONS: tuple[str, ...] = ("s-expression", "calls", "funql", "json", "prefix")


@dataclass(frozen=True)
class Notation:
    """How programs are written.

    Attributes:
        name: one of `NOTATIONS`.
        spacing: the space between two lexemes, by their classes.
        arities: in prefix order, the number of children of each symbol.
    """

    name: str
    spacing: Mapping[tuple[str, str], str] = field(default_factory=dict)
    arities: Mapping[str, int] = field(default_factory=dict)

    def read(self, text: str) -> Program:
        """Read a text. Raises `ProgramError` if it is not one program in this notation."""
        lexemes, _ = lex(self.name, text)
        return self._parse(lexemes)

    def write(self, program: Sequence[Node]) -> str:
        """Write a program. `read` gives it back."""
        lexemes = _lexemes(self.name, program)
        parts = [text for _, text in lexemes[:1]]
        for (before, _), (after, text) in pairwise(lexemes):
            parts += [
                self.spacing.get((before, after), " " if before == after == "atom" else self._usual),
                text,
            ]
        return "".join(parts)

    @property
    def _usual(self) -> str:
        """The space between lexemes that training did not show side by side."""
        counts = Counter(self.spacing.values())
        return counts.most_common(1)[0][0] if counts and len(counts) == 1 else ""

    def _parse(self, lexemes: Sequence[Lexeme]) -> Program:
        return parse_prefix(lexemes, self.arities) if self.name == "prefix" else PARSERS[self.name](lexemes)


def learn(name: str, texts: Sequence[str], arities: Mapping[str, int] | None = None) -> Notation:
    """The notation `name` with the spacing of `texts`.

    Args:
        name: one of `NOTATIONS`.
        texts: programs, all of which are to come back to the letter.
        arities: in prefix order, the number of children of each symbol; found from the texts if None.

    Raises:
        ProgramError: names the line, from 1, of the first text that would not come back, and says why.
    """
    return learn_and_read(name, texts, arities)[0]


def learn_and_read(
    name: str, texts: Sequence[str], arities: Mapping[str, int] | None = None
) -> tuple[Notation, list[Program]]:
    """The same, and the programs of all texts."""
    name = "calls" if name == "funql" else name
    if name not in LEXERS:
        raise ProgramError(f"notation: {name!r} is not one of {', '.join(NOTATIONS)}")
    lexed, spacing = _learn_spacing(name, texts)
    if name == "prefix" and arities is None:
        arities = solve_arities([[text for _, text in lexemes] for lexemes in lexed])
    notation = Notation(name, spacing, dict(arities or {}))
    programs = []
    for line, (text, lexemes) in enumerate(zip(texts, lexed, strict=True), 1):
        try:
            programs.append(notation._parse(lexemes))
        except ProgramError as error:
            raise ProgramError(f"line {line}: {error}") from None
        written = notation.write(programs[-1])
        if written != text:
            raise ProgramError(f"line {line}: it would be written as {written!r}")
    return notation, programs


def _learn_spacing(name: str, texts: Sequence[str]) -> tuple[list[list[Lexeme]], dict[tuple[str, str], str]]:
    """The lexemes of all texts, and the space between each two classes of them."""
    spacing: dict[tuple[str, str], str] = {}
    lines: dict[tuple[str, str], int] = {}
    lexed = []
    for line, text in enumerate(texts, 1):
        try:
            lexemes, spaces = lex(name, text)
        except ProgramError as error:
            raise ProgramError(f"line {line}: {error}") from None
        lexed.append(lexemes)
        for ((before, _), (after, _)), space in zip(pairwise(lexemes), spaces, strict=False):
            known = spacing.setdefault((before, after), space)
            first = lines.setdefault((before, after), line)
            if known != space:
                raise ProgramError(
                    f"line {line}: {_said(space)} between {before!r} and {after!r}, "
                    f"but {_said(known)} in line {first}"
                )
    return lexed, spacing


def _said(space: str) -> str:
    return "no space" if not space else "one space" if space == " " else f"{space!r}"


def _lexemes(name: str, program: Sequence[Node]) -> list[Lexeme]:
    lexemes: list[Lexeme] = []
    stack: list[tuple[int, list[Lexeme], list[Lexeme]]] = []
    separator = [] if name in ("s-expression", "prefix") else [(",", ",")]
    place, first = 0, True
    while place < len(program):
        node = program[place]
        if stack and not first:
            lexemes += stack[-1][1]
        first = False
        place += 1
        if node.kind in ("quoted", "words"):
            words = [word.text for word in program[place : place + node.children]]
            if any(word.children for word in program[place : place + node.children]):
                raise ProgramError("a name has parts that are no words")
            place += node.children
            quoted = f"{node.text}{' '.join(words)}{node.text}"
            lexemes += [("atom", word) for word in ([quoted] if node.kind == "quoted" else words)]
            opened, closed, children = [], list[Lexeme](), 0
        else:
            opened, closed = _brackets(name, node)
            children = node.children
            lexemes += opened
        stack.append((children, separator if node.kind != "key" else [], closed))
        first = children > 0
        while stack and not stack[-1][0]:
            lexemes += stack.pop()[2]
            if stack:
                left, between, closed = stack[-1]
                stack[-1] = left - 1, between, closed
    return lexemes


def _brackets(name: str, node: Node) -> tuple[list[Lexeme], list[Lexeme]]:
    """What is written before and after the children of a node."""
    heads = (
        [("atom", head) for head in node.text.split(" ", 1)]
        if node.kind == "curried"
        else [("atom", node.text)]
    )
    match node.kind:
        case "atom":
            return heads, []
        case "key":
            return [*heads, (":", ":")], []
        case "object":
            return [("{", "{")], [("}", "}")]
        case "array":
            return [("[", "[")], [("]", "]")]
        case "list":
            closing = {"(": ")", "[": "]"}[node.text]
            return [(node.text, node.text)], [(closing, closing)]
    if name == "prefix":
        return heads, []
    if name == "calls":
        return [*heads, ("(", "(")], [(")", ")")]
    return [("(", "("), *heads], [(")", ")")]
