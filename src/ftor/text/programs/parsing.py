"""Reads programs: lexemes into nodes. No function here recurses."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ftor.text.programs.lexing import BETWEEN, PLAIN, Dialect, Lexeme, ProgramError

Kind = Literal["apply", "curried", "atom", "list", "object", "array", "key", "quoted", "words", "sequence"]
NAME_KINDS = frozenset({"quoted", "words"})
"""Nodes whose children are the words of a name, such as `'new york'`."""


class Node(NamedTuple):
    """One node of a program.

    Attributes:
        kind: what the node is in its notation.
        text: the head, the atom, or the quote character.
        children: how many children follow.
    """

    kind: Kind
    text: str
    children: int


KEPT = 100_000
"""How many nodes are kept to be shared."""
_OPEN = Node("list", "(", 0)
Program = list[Node]
"""The nodes of a program in prefix order."""
_JSON_ATOM = re.compile(
    r""" "(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"
    | -?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)? | true | false | null""",
    re.X,
)
CLOSING = {"(": ")", "[": "]", "{": "}"}


@lru_cache(KEPT)
def _node(kind: Kind, text: str, children: int) -> Node:
    """A node. Equal nodes are one object, because programs repeat them."""
    return Node(kind, text, children)


@lru_cache(KEPT)
def _literal(text: str) -> tuple[Node, ...]:
    """An atom, or the words of a quoted name if single spaces separate them."""
    quote = text[0]
    if quote in "'\"" and len(text) > 2 and text[-1] == quote:
        inner = text[1:-1]
        words = inner.split(" ")
        if words == inner.split() and quote not in inner and "\\" not in inner:
            return Node("quoted", quote, len(words)), *(Node("atom", word, 0) for word in words)
    return (Node("atom", text, 0),)


class _Group:
    """A bracket that is open while a text is read."""

    __slots__ = ("children", "head", "mark", "place", "wants")

    def __init__(self, mark: str, place: int) -> None:
        self.mark, self.place, self.children, self.head, self.wants = mark, place, 0, "", "item"


def _closing(stack: list[_Group], mark: str) -> _Group:
    if not stack or CLOSING[stack[-1].mark] != mark:
        raise ProgramError(f"{mark!r} closes no bracket")
    return stack.pop()


class _Line:
    """The programs of a line while it is read."""

    __slots__ = ("between", "done", "ends", "leaves", "marks")

    def __init__(self, dialect: Dialect) -> None:
        self.between, self.ends = dialect.between, dialect.ends
        self.done, self.marks, self.leaves = 0, 0, 0

    def add(self, is_leaf: bool) -> None:
        """A program has ended."""
        if self.between is not None and self.done > self.marks:
            what = (
                f"no {self.between!r} between two programs" if self.between else "no brackets around a word"
            )
            raise ProgramError(what)
        self.done += 1
        self.leaves += is_leaf

    def mark(self) -> None:
        """What stands between programs."""
        if self.done != self.marks + 1:
            raise ProgramError(f"{self.between!r} follows no program")
        self.marks += 1

    def whole(self, program: Program, stack: Sequence[_Group]) -> Program:
        """The program of the line. Several are the children of one node."""
        if stack:
            raise ProgramError(f"{stack[-1].mark!r} is not closed")
        if not self.done or (self.between is None and self.done > 1):
            raise ProgramError(f"{self.done} programs in one line" if self.done else "no program in the line")
        if self.between is None:
            return program
        if self.marks != self.done - (not self.ends):
            raise ProgramError(f"{self.between!r} {'is missing' if self.ends else 'stands'} at the end")
        if self.leaves and self.between != ";":  # as in a sentence with brackets
            raise ProgramError("a word outside of brackets, where only ';' between programs allows one")
        return [Node("sequence", self.between, self.done), *program]


def _parse_s_expression(lexemes: Sequence[Lexeme], dialect: Dialect = PLAIN) -> Program:
    program: list[Node] = []
    stack: list[_Group] = []
    line = _Line(dialect)
    top = None  # of the stack
    for kind, text in lexemes:
        if kind == BETWEEN:
            line.mark()
            continue
        if kind == "(":
            top = _Group("(", len(program))
            stack.append(top)
            program.append(_OPEN)
            continue
        if kind == ")":
            group = _closing(stack, text)
            head = group.head
            program[group.place] = _node("apply" if head else "list", head or "(", group.children)
            top = stack[-1] if stack else None
        elif top and not top.head and len(program) == top.place + 1 and text[0] not in "'\"":
            top.head = text
            continue
        else:
            program += _literal(text)
        if top:
            top.children += 1
        else:
            line.add(kind != ")")
    return line.whole(program, stack)


def _parse_calls(lexemes: Sequence[Lexeme], dialect: Dialect = PLAIN) -> Program:
    program: list[Node] = []
    stack: list[_Group] = []
    line = _Line(dialect)
    after_item, place = False, 0
    while place < len(lexemes):
        kind, text = lexemes[place]
        if kind == BETWEEN:
            line.mark()
            after_item, place = False, place + 1
            continue
        if kind == ",":
            if not (stack and after_item):
                raise ProgramError("',' follows no argument")
            after_item, place = False, place + 1
            if place == len(lexemes) or lexemes[place][0] in ",)]":
                raise ProgramError("no argument after ','")
            continue
        if kind in (")", "]"):
            group = _closing(stack, text)
            program[group.place] = program[group.place]._replace(children=group.children)
        elif after_item:
            raise ProgramError(f"no ',' before {text!r}")
        elif kind == "key":
            place += 1
            if place == len(lexemes) or lexemes[place][0] in (",", ")", "]", "key", BETWEEN):
                raise ProgramError(f"no value after {text!r}")
            program.append(Node("key", text, 1))
            after_item = False
            continue
        elif kind in ("(", "["):
            stack.append(_Group(kind, len(program)))
            program.append(Node("list", kind, 0))
            after_item, place = False, place + 1
            continue
        else:
            end = place
            while end < len(lexemes) and lexemes[end][0] == "atom":
                end += 1
            words = [word for _, word in lexemes[place:end]]
            place = end
            if end < len(lexemes) and lexemes[end][0] == "(":
                if len(words) > 1:
                    raise ProgramError(f"no ',' before {words[-1]!r}")
                stack.append(_Group("(", len(program)))
                program.append(Node("apply", words[0], 0))
                after_item, place = False, place + 1
                continue
            if len(words) == 1:
                program += _literal(words[0])
            else:
                program += [Node("words", "", len(words)), *(Node("atom", word, 0) for word in words)]
            place -= 1
        after_item, place = True, place + 1
        if stack:
            stack[-1].children += 1
        else:
            line.add(kind not in (")", "]"))
    return line.whole(program, stack)


def _parse_json(lexemes: Sequence[Lexeme], dialect: Dialect = PLAIN) -> Program:
    program: list[Node] = []
    stack: list[_Group] = []
    line = _Line(dialect)
    for place, (kind, text) in enumerate(lexemes):
        group = stack[-1] if stack else None
        wants = group.wants if group else "item"
        if kind == ":":
            if wants != ":" or group is None:
                raise ProgramError("':' follows no key")
            group.wants = "item"
            continue
        if kind == ",":
            if wants != "," or group is None:
                raise ProgramError("',' follows no value")
            group.wants = "key" if group.mark == "{" else "item"
            if lexemes[place + 1 : place + 2] and lexemes[place + 1][0] in "]}":
                raise ProgramError("no value after ','")
            continue
        if kind in "]}":
            if wants not in (",", "first", "first key"):
                raise ProgramError(f"no value before {text!r}")
            group = _closing(stack, text)
            program[group.place] = program[group.place]._replace(children=group.children)
        elif wants in ("key", "first key"):
            if group is None or kind != "atom" or text[0] != '"' or not _JSON_ATOM.fullmatch(text):
                raise ProgramError(f"{text!r} is no key")
            program.append(Node("key", text, 1))
            group.wants, group.children = ":", group.children + 1
            continue
        elif wants not in ("item", "first"):
            raise ProgramError(f"no ',' before {text!r}")
        elif kind in "[{":
            stack.append(_Group(kind, len(program)))
            stack[-1].wants = "first key" if kind == "{" else "first"
            program.append(Node("object" if kind == "{" else "array", kind, 0))
            continue
        elif not _JSON_ATOM.fullmatch(text):
            raise ProgramError(f"{text!r} is no JSON value")
        else:
            program += _literal(text)
        if stack:
            stack[-1].children += stack[-1].mark == "["
            stack[-1].wants = ","
        else:
            line.add(kind not in "]}")
            if place + 1 < len(lexemes):
                raise ProgramError("more than one value in one line")
    return line.whole(program, stack)


def parse_prefix(lexemes: Sequence[Lexeme], arities: Mapping[str, int]) -> Program:
    """Read prefix order without brackets. A symbol without a known number of arguments takes none."""
    program = []
    open_slots = 1
    for place, (_, text) in enumerate(lexemes):
        if not open_slots:
            raise ProgramError(f"the program is complete before {text!r}, token {place + 1}")
        arity = arities.get(text, 0)
        open_slots += arity - 1
        program.append(Node("apply" if arity else "atom", text, arity))
    if open_slots:
        raise ProgramError(f"{open_slots} arguments are missing at the end")
    return program


PARSERS: dict[str, Callable[[Sequence[Lexeme], Dialect], Program]] = {
    "s-expression": _parse_s_expression,
    "calls": _parse_calls,
    "json": _parse_json,
}
