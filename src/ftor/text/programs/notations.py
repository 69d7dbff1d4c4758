"""Notations of programs, read into trees and written back: s-expressions, calls, JSON and prefix order.

A program is a list of nodes in prefix order. Each node says how many children follow it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import TypeVar

from ftor.text.programs.arities import check_arities, solve_arities, with_leaves
from ftor.text.programs.lexing import (
    BETWEEN,
    MARKS,
    PLAIN,
    Dialect,
    Lexeme,
    ProgramError,
    lex,
    possible_dialects,
)
from ftor.text.programs.parsing import CLOSING, NAME_KINDS, PARSERS, Node, Program, parse_prefix

MOST = 0.8
"""If so many texts have named arguments, the others are errors."""
S = TypeVar("S")
T = TypeVar("T")

NOTATIONS: tuple[str, ...] = ("s-expression", "calls", "funql", "json", "prefix")
"""The names of notations. `funql` is another name of `calls`."""


@dataclass(frozen=True)
class Notation:
    """How programs are written.

    Attributes:
        name: one of `NOTATIONS`.
        spacing: the space between two lexemes, by their classes.
        arities: in prefix order, the number of children of each symbol.
        dialect: whether programs have keys, and whether several stand in a line.
    """

    name: str
    spacing: Mapping[tuple[str, str], str] = field(default_factory=dict)
    arities: Mapping[str, int] = field(default_factory=dict)
    dialect: Dialect = PLAIN

    def __str__(self) -> str:
        return self.name if self.dialect.between is None else f"{self.name}, several in a line"

    def read(self, text: str) -> Program:
        """Read a text. Raises `ProgramError` if it is not one program in this notation."""
        lexemes, _ = lex(self.name, text, self.dialect)
        return self._parse(lexemes)

    def write(self, program: Sequence[Node]) -> str:
        """Write a program. `read` gives it back."""
        lexemes = _lexemes(self.name, self.dialect, program)
        spacing, usual = self.spacing, self._usual
        parts = [text for _, text in lexemes[:1]]
        for (before, _), (after, text) in pairwise(lexemes):
            space = spacing.get((before, after))
            if space is None:  # training never showed the two side by side
                space = self._space_of_others(before, after)
            if space is None:
                space = " " if before == after == "atom" else usual
            parts += (space, text)
        return "".join(parts)

    def _space_of_others(self, before: str, after: str) -> str | None:
        """The space where an atom stands for a key, or anything after what is between programs."""
        atoms = tuple("atom" if kind == "key" else kind for kind in (before, after))
        if before == BETWEEN:
            return next((space for (kind, _), space in self.spacing.items() if kind == BETWEEN), None)
        return self.spacing.get((atoms[0], atoms[1]))

    def words(self, program: Sequence[Node]) -> list[str]:
        """The brackets, separators and atoms of a program, one by one."""
        return [text for _, text in _lexemes(self.name, self.dialect, program)]

    def split(self, text: str) -> list[str]:
        """The words of a text as grammars have them: quotes stand apart from the words of a name.

        Raises `ProgramError` if the text is not one program in this notation.
        """
        program, named, nodes = self.read(text), 0, Program()
        for node in program:
            nodes.append(Node(node.kind, f" {node.text} ", 0) if named else node)
            named = max(0, named - 1)
            if node.kind in NAME_KINDS:
                named = node.children
                if not named:
                    nodes[-1:] = [Node(node.kind, node.text, 1), Node("atom", " ", 0)]
        return [word for lexeme in self.words(nodes) for word in lexeme.split()]

    @property
    def separator(self) -> str | None:
        """What stands between children, if anything."""
        return None if self.name in ("s-expression", "prefix") else ","

    @cached_property
    def _usual(self) -> str:
        """The one space that stands everywhere, if there is one."""
        spaces = set(self.spacing.values())
        return spaces.pop() if len(spaces) == 1 else ""

    def _parse(self, lexemes: Sequence[Lexeme]) -> Program:
        if self.name == "prefix":
            return parse_prefix(lexemes, self.arities)
        return PARSERS[self.name](lexemes, self.dialect)


def learn(name: str, texts: Sequence[str], arities: Mapping[str, int] | None = None) -> Notation:
    """The notation `name` with the spacing of `texts`.

    Args:
        name: one of `NOTATIONS`.
        texts: programs, all of which are to come back to the letter.
        arities: in prefix order, the number of children of each symbol that has some; found from the texts if
            None.

    Raises:
        ProgramError: names the line, from 1, of the first text that would not come back, and says why.
    """
    return learn_and_read(name, texts, arities)[0]


def learn_and_read(
    name: str, texts: Sequence[str], arities: Mapping[str, int] | None = None, dialects: bool = True
) -> tuple[Notation, list[Program]]:
    """The same, and the programs of all texts.

    With `dialects`, arguments of calls can have names, and a line can have several programs.
    """
    name = "calls" if name == "funql" else name
    if name not in MARKS:
        raise ProgramError(f"notation: {name!r} is not one of {', '.join(NOTATIONS)}")
    if arities is not None:
        check_arities(arities, name)
    problem = ProgramError()
    for dialect in possible_dialects(name, texts) if dialects else [PLAIN]:
        try:
            return _learn_dialect(name, dialect, texts, arities)
        except ProgramError as error:
            if error.line > problem.line or not str(problem):  # the one that reads most lines
                problem = error
            if dialect.keys and _reads_most(Notation(name, dialect=dialect), texts):
                break  # without keys, a value would be part of its name
    raise problem


def _reads_most(notation: Notation, texts: Sequence[str]) -> bool:
    bad = 0
    for text in texts:
        try:
            notation.read(text)
        except ProgramError:
            bad += 1
    return bad <= (1 - MOST) * len(texts)


def _learn_dialect(
    name: str, dialect: Dialect, texts: Sequence[str], arities: Mapping[str, int] | None
) -> tuple[Notation, list[Program]]:
    if texts and name != "prefix":
        _named(1, Notation(name, dialect=dialect).read, texts[0])  # most others are refused at once
    lexed, spacing = _learn_spacing(name, dialect, texts)
    known: Mapping[str, int] = {}
    if name == "prefix":
        symbols = [[text for _, text in lexemes] for lexemes in lexed]
        known = solve_arities(symbols) if arities is None else with_leaves(arities, symbols)
    notation = Notation(name, spacing, dict(known), dialect)
    programs = [_named(line, notation._parse, lexemes) for line, lexemes in enumerate(lexed, 1)]
    for line, (text, lexemes, program) in enumerate(zip(texts, lexed, programs, strict=True), 1):
        if _lexemes(name, dialect, program) == lexemes:  # the same lexemes have the same spaces
            continue
        written = notation.write(program)
        if written != text:
            raise _of_line(line, f"it would be written as {written!r}")
    return notation, programs


def _learn_spacing(
    name: str, dialect: Dialect, texts: Sequence[str]
) -> tuple[list[list[Lexeme]], dict[tuple[str, str], str]]:
    """The lexemes of all texts, and the space between each two classes of them."""
    spacing: dict[tuple[str, str], str] = {}
    lines: dict[tuple[str, str], int] = {}
    lexed = []
    for line, text in enumerate(texts, 1):
        lexemes, spaces = _named(line, partial(lex, name, dialect=dialect), text)
        lexed.append(lexemes)
        classes = [kind for kind, _ in lexemes]
        for before, after, space in dict.fromkeys(zip(classes, classes[1:], spaces, strict=False)):
            known = spacing.get((before, after))
            if known is None:
                spacing[before, after], lines[before, after] = space, line
            elif known != space:
                first = lines[before, after]
                both = " and ".join(_named_class(kind, dialect) for kind in (before, after))
                problem = f"{_said(space)} between {both}, but {_said(known)} in line {first}"
                raise _of_line(line, problem)
    return lexed, spacing


def _named(line: int, read: Callable[[S], T], text: S) -> T:
    """What `read` gives, or its error with the line."""
    try:
        return read(text)
    except ProgramError as error:
        raise _of_line(line, str(error)) from None


def _of_line(line: int, problem: str) -> ProgramError:
    error = ProgramError(f"line {line}: {problem}")
    error.line = line
    return error


def _named_class(kind: str, dialect: Dialect) -> str:
    """A class of lexemes as people know it."""
    if kind == BETWEEN:
        return repr(dialect.between) if dialect.between else "a program"
    return {"atom": "a word", "key": "the name of an argument"}.get(kind, repr(kind))


def _said(space: str) -> str:
    return "no space" if not space else "one space" if space == " " else f"{space!r}"


def _lexemes(name: str, dialect: Dialect, program: Sequence[Node]) -> list[Lexeme]:
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
        if node.kind in NAME_KINDS:
            words = [word.text for word in program[place : place + node.children]]
            if any(word.children for word in program[place : place + node.children]):
                raise ProgramError("a name has parts that are no words")
            place += node.children
            quoted = f"{node.text}{' '.join(words)}{node.text}"
            lexemes += [("atom", word) for word in ([quoted] if node.kind == "quoted" else words)]
            closed, children = list[Lexeme](), 0
        else:
            opened, closed = _brackets(name, dialect, node)
            lexemes += opened
            children = node.children
        between = {"key": [], "sequence": [(BETWEEN, node.text)]}.get(node.kind, separator)
        stack.append((children, between, closed))
        first = children > 0
        while stack and not stack[-1][0]:
            lexemes += stack.pop()[2]
            if stack:
                left, between, closed = stack[-1]
                stack[-1] = left - 1, between, closed
    return lexemes


def _brackets(name: str, dialect: Dialect, node: Node) -> tuple[list[Lexeme], list[Lexeme]]:
    """What is written before and after the children of a node."""
    match node.kind:
        case "atom":
            return [("atom", node.text)], []
        case "key" if name == "json":
            return [("atom", node.text), (":", ":")], []
        case "key":
            return [("key", node.text)], []
        case "sequence":
            return [], [(BETWEEN, node.text)] if dialect.ends else []
        case "object" | "array" | "list":
            closing = CLOSING[node.text]
            return [(node.text, node.text)], [(closing, closing)]
    head, *first = [
        ("atom", text) for text in (node.text.split(" ", 1) if node.kind == "curried" else [node.text])
    ]
    if name == "prefix":
        return [head], []
    if name == "s-expression":
        return [("(", "("), head, *first], [(")", ")")]
    between = [(",", ",")] if first and node.children else []
    return [head, ("(", "("), *first, *between], [(")", ")")]
