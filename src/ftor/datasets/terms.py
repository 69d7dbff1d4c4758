"""Queries as trees: read from tokens in prefix order with fixed arities, and written back."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ftor.errors import FtorError

DEEPEST = 100
"""Deeper queries are refused, because functions over trees recurse. Published ones have up to 17 levels."""


class QueryError(FtorError):
    """A query that cannot be read or executed. The message names the token, if there is one."""


class Term(NamedTuple):
    """A function with its arguments, or a constant."""

    head: str
    arguments: tuple["Term", ...] = ()


class _Open(NamedTuple):
    """A function whose arguments are being read: `arity` of them, or up to the closing bracket if None."""

    head: str
    arity: int | None
    arguments: list[Term]


def read(tokens: Iterable[str], arities: Mapping[str, int], bracketed: Collection[str] = ()) -> Term:
    """Read a query in prefix order.

    Args:
        tokens: the tokens of the query.
        arities: the number of arguments of each function. Other tokens are constants.
        bracketed: functions with one or more arguments that are written `( function argument … )`. Without
            any, brackets are constants.

    Raises:
        QueryError: if the tokens are not a query.
    """
    waiting = [_Open("", 1, [])]
    opening = False
    for place, token in enumerate(tokens, 1):
        if waiting[0].arguments:
            raise QueryError(f"token {place}: expected the end of the query, found {token!r}")
        if opening and token not in bracketed:
            raise QueryError(f"token {place}: expected {' or '.join(bracketed)} after '(', found {token!r}")
        if opening:
            waiting.append(_Open(token, None, []))
            opening = False
        elif bracketed and token == "(":
            opening = True
        elif bracketed and token == ")":
            if waiting[-1].arity is not None or not waiting[-1].arguments:
                raise QueryError(f"token {place}: expected an argument, found ')'")
            _close(waiting)
        elif token in arities:
            waiting.append(_Open(token, arities[token], []))
        else:
            waiting[-1].arguments.append(Term(token))
            _close_complete(waiting)
        if len(waiting) > DEEPEST:
            raise QueryError(f"token {place}: more than {DEEPEST} levels")
    if not waiting[0].arguments:
        raise QueryError("expected an argument or ')', found the end of the query")
    return waiting[0].arguments[0]


def _close(waiting: list[_Open]) -> None:
    """Close the innermost function, and those around it that are complete."""
    done = waiting.pop()
    waiting[-1].arguments.append(Term(done.head, tuple(done.arguments)))
    _close_complete(waiting)


def _close_complete(waiting: list[_Open]) -> None:
    while len(waiting) > 1 and len(waiting[-1].arguments) == waiting[-1].arity:
        done = waiting.pop()
        waiting[-1].arguments.append(Term(done.head, tuple(done.arguments)))


def write(term: Term, bracketed: Collection[str] = ()) -> list[str]:
    """The tokens of a tree. `read` is the inverse."""
    inner = [token for argument in term.arguments for token in write(argument, bracketed)]
    if term.head in bracketed and term.arguments:
        return ["(", term.head, *inner, ")"]
    return [term.head, *inner]
