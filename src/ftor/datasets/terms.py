"""Programs as trees: read from tokens without brackets by fixed arities, and written back."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ftor.errors import FtorError

DEEPEST = 100
"""Deeper programs are refused: the deepest published one has 17 levels, and walking a tree may recurse."""


class ProgramError(FtorError):
    """A program that cannot be read or run; says at which token and why."""


class Term(NamedTuple):
    """A function with its arguments, or a constant without any."""

    head: str
    arguments: tuple["Term", ...] = ()


class _Open(NamedTuple):
    """A function that still waits for arguments: so many, or up to the closing bracket if None."""

    head: str
    wanted: int | None
    found: list[Term]


def read(tokens: Iterable[str], arities: Mapping[str, int], bracketed: Collection[str] = ()) -> Term:
    """Build the tree of a program in pre-order.

    `arities` gives each function's number of arguments; any other token is a constant. Functions of
    `bracketed` take one or more arguments and are written `( function argument … )`; where there are
    none, brackets are nothing but constants.
    """
    waiting = [_Open("", 1, [])]
    opening = False
    for place, token in enumerate(tokens, 1):
        if waiting[0].found:
            raise ProgramError(f"token {place}: expected the program's end, found {token!r}")
        if opening and token not in bracketed:
            raise ProgramError(f"token {place}: expected {' or '.join(bracketed)} after '(', found {token!r}")
        if opening:
            waiting.append(_Open(token, None, []))
            opening = False
        elif bracketed and token == "(":
            opening = True
        elif bracketed and token == ")":
            if waiting[-1].wanted is not None or not waiting[-1].found:
                raise ProgramError(f"token {place}: expected an argument, found ')'")
            _close(waiting)
        elif token in arities:
            waiting.append(_Open(token, arities[token], []))
        else:
            waiting[-1].found.append(Term(token))
            _close_complete(waiting)
        if len(waiting) > DEEPEST:
            raise ProgramError(f"token {place}: expected at most {DEEPEST} levels, found more")
    if not waiting[0].found:
        raise ProgramError("expected an argument or ')', found the program's end")
    return waiting[0].found[0]


def _close(waiting: list[_Open]) -> None:
    """Hand the innermost function to the one around it, and so on outwards as far as they are complete."""
    done = waiting.pop()
    waiting[-1].found.append(Term(done.head, tuple(done.found)))
    _close_complete(waiting)


def _close_complete(waiting: list[_Open]) -> None:
    while len(waiting) > 1 and len(waiting[-1].found) == waiting[-1].wanted:
        done = waiting.pop()
        waiting[-1].found.append(Term(done.head, tuple(done.found)))


def write(term: Term, bracketed: Collection[str] = ()) -> list[str]:
    """The tokens that `read` makes the tree of."""
    inner = [token for argument in term.arguments for token in write(argument, bracketed)]
    if term.head in bracketed and term.arguments:
        return ["(", term.head, *inner, ")"]
    return [term.head, *inner]
