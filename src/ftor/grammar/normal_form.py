"""Compiles rules into a `NormalForm`, the tables that the chart algorithms of `ftor.ops.cyk` read.

The normal form derives the same strings as the rules, except the empty string:

1. alternatives that differ in one token are one alternative with a class of tokens;
2. A → X Y Z becomes A → X [Y Z], and equal tails [Y Z] are shared;
3. where B may be empty, A → B C adds A → C, and so on;
4. names that derive each other by unary rules become one name, and a name whose only rule is A → B becomes B;
5. names that derive no token, or that the start no longer needs, are removed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from ftor.grammar.reading import Rule, Words, closure
from ftor.ops.arrays import Array
from ftor.ops.cyk import NormalForm


@dataclass(frozen=True)
class _Class:
    """The tokens that one position can have; the number after the last terminal is @copy."""

    tokens: tuple[int, ...]


@dataclass(frozen=True)
class _Tail:
    """What follows the first part of a long rule."""

    parts: tuple[_Symbol, ...]


_Symbol = str | _Class | _Tail
_Binary = tuple[_Symbol, _Symbol, _Symbol]  # parent, left, right
_Unary = tuple[_Symbol, _Symbol]  # parent, child


def normal_form(rules: Sequence[Rule], terminals: Sequence[str]) -> NormalForm | None:
    """Compile `rules`, the first of which names the start; None if they derive no token at all."""
    start: _Symbol = rules[0].name
    productions = list(_binarised(_merged(_numbered(rules, terminals))))
    binary, unary = _without_empty(productions)
    names = _collapsed(unary, {parent for parent, _, _ in binary})
    start = names.get(start, start)
    binary = _unique((names.get(a, a), names.get(b, b), names.get(c, c)) for a, b, c in binary)
    unary = _unique((names.get(a, a), names.get(b, b)) for a, b in unary)
    unary = [(parent, child) for parent, child in unary if parent != child]
    used = _useful(start, binary, unary)
    if start not in used:
        return None
    binary = [rule for rule in binary if used.issuperset(rule)]
    unary = [rule for rule in unary if used.issuperset(rule)]
    return _tables(start, binary, unary, len(terminals))


def _numbered(rules: Sequence[Rule], terminals: Sequence[str]) -> Iterator[tuple[str, tuple[_Symbol, ...]]]:
    numbers = {word: number for number, word in enumerate(terminals)}
    for rule in rules:
        parts: list[_Symbol] = []
        for part in rule.parts:
            if isinstance(part, Words):
                copy = (len(terminals),) if part.copy else ()
                parts.append(_Class((*sorted({numbers[word] for word in part.words}), *copy)))
            else:
                parts.append(part)
        yield rule.name, tuple(parts)


def _merged(
    productions: Iterable[tuple[str, tuple[_Symbol, ...]]],
) -> Iterator[tuple[str, tuple[_Symbol, ...]]]:
    """Join alternatives that differ in one token: `new york | new jersey` is new, then york or jersey."""
    by_name: dict[str, list[tuple[_Symbol, ...]]] = {}
    for name, parts in productions:
        by_name.setdefault(name, []).append(parts)
    for name, alternatives in by_name.items():
        merged = _unique(alternatives)
        for at in range(max(map(len, merged))):
            merged = _merged_at(at, merged)
        for parts in merged:
            yield name, parts


def _merged_at(at: int, alternatives: Iterable[tuple[_Symbol, ...]]) -> list[tuple[_Symbol, ...]]:
    groups: dict[Any, set[int]] = {}
    for parts in alternatives:
        tokens = parts[at] if at < len(parts) else None
        if isinstance(tokens, _Class):
            groups.setdefault((parts[:at], parts[at + 1 :]), set()).update(tokens.tokens)
        else:
            groups[parts] = set()
    # Keys with tokens are pairs of tuples of symbols; a symbol is never a tuple itself.
    return [
        (*key[0], _Class(tuple(sorted(tokens))), *key[1]) if tokens else key for key, tokens in groups.items()
    ]


def _binarised(
    productions: Iterable[tuple[str, tuple[_Symbol, ...]]],
) -> Iterator[tuple[_Symbol, tuple[_Symbol, ...]]]:
    tails: set[_Tail] = set()
    for name, rest in productions:
        parent: _Symbol = name
        while len(rest) > 2:
            tail = _Tail(rest[1:])
            yield parent, (rest[0], tail)
            if tail in tails:
                break
            tails.add(tail)
            parent, rest = tail, rest[1:]
        else:
            yield parent, rest


def _without_empty(
    productions: Sequence[tuple[_Symbol, tuple[_Symbol, ...]]],
) -> tuple[list[_Binary], list[_Unary]]:
    nullable = nullable_symbols(productions)
    binary: list[_Binary] = []
    unary: list[_Unary] = []
    for parent, parts in productions:
        if len(parts) == 2:
            left, right = parts
            binary.append((parent, left, right))
            if left in nullable:
                unary.append((parent, right))
            if right in nullable:
                unary.append((parent, left))
        elif len(parts) == 1:
            unary.append((parent, parts[0]))
    return _unique(binary), _unique(unary)


def nullable_symbols(productions: Sequence[tuple[Any, tuple[Any, ...]]]) -> set[Any]:
    """The left sides from which the empty string derives."""
    return closure(productions, set())


def _collapsed(unary: Sequence[_Unary], binary_parents: set[_Symbol]) -> dict[_Symbol, _Symbol]:
    """The symbol that replaces each symbol that derives the same strings by unary rules."""
    children: dict[_Symbol, list[_Symbol]] = {}
    for parent, child in unary:
        children.setdefault(parent, []).append(child)
    below = {symbol: _descendants(symbol, children) for symbol in children}
    names: dict[_Symbol, _Symbol] = {}
    for symbol in children:
        for other in below[symbol]:
            if symbol in below.get(other, ()):
                names.setdefault(other, names.get(symbol, symbol))
    members: dict[_Symbol, set[_Symbol]] = {}
    for symbol in children:
        members.setdefault(names.get(symbol, symbol), set()).add(symbol)
    for symbol, same in members.items():
        outside = {names.get(child, child) for member in same for child in children[member]} - {symbol}
        if len(outside) == 1 and not same & binary_parents:
            names.update(dict.fromkeys(same, outside.pop()))
    for symbol in names:
        at = symbol
        while at in names and names[at] != at:
            at = names[at]
        names[symbol] = at
    return names


def _descendants(symbol: _Symbol, children: dict[_Symbol, list[_Symbol]]) -> set[_Symbol]:
    descendants: set[_Symbol] = set()
    waiting = [symbol]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in descendants:
                descendants.add(child)
                waiting.append(child)
    return descendants


def _useful(start: _Symbol, binary: Sequence[_Binary], unary: Sequence[_Unary]) -> set[_Symbol]:
    """The symbols that derive tokens and that the start derives."""
    rules: list[tuple[_Symbol, ...]] = [*binary, *unary]
    productive: set[_Symbol] = {part for rule in rules for part in rule[1:] if isinstance(part, _Class)}
    if isinstance(start, _Class):
        productive.add(start)
    productive = closure([(rule[0], rule[1:]) for rule in rules], productive)
    children: dict[_Symbol, list[_Symbol]] = {}
    for rule in rules:
        if productive.issuperset(rule):
            children.setdefault(rule[0], []).extend(rule[1:])
    return ({start} & productive) | (_descendants(start, children) if start in productive else set())


def _tables(
    start: _Symbol, binary: Sequence[_Binary], unary: Sequence[_Unary], copy_token: int
) -> NormalForm:
    symbols = _unique([start, *(part for rule in [*binary, *unary] for part in rule)])
    classes = [symbol for symbol in symbols if isinstance(symbol, _Class)]
    children: dict[_Symbol, list[_Symbol]] = {}
    for parent, child in unary:
        children.setdefault(parent, []).append(child)
    # Without cycles, a symbol derives fewer symbols by unary rules than its parents do.
    names = sorted(
        (symbol for symbol in symbols if not isinstance(symbol, _Class)),
        key=lambda symbol: len(_descendants(symbol, children)),
    )
    number = {symbol: n for n, symbol in enumerate([*classes, *names])}
    by_left = sorted((number[b], number[c] >= len(classes), number[c], number[a]) for a, b, c in binary)
    wide = [(left, int(is_name)) for left, is_name, _, _ in by_left]
    numbers = range(len(symbols) + 1)
    by_parent = sorted((number[a], number[b]) for a, b in unary)
    tokens = [[token for token in each.tokens if token != copy_token] for each in classes]
    return NormalForm(
        start=number[start],
        symbols=len(symbols),
        token_starts=_integers(accumulate(map(len, tokens), initial=0)),
        tokens=_integers(token for each in tokens for token in each),
        copies=np.array([copy_token in each.tokens for each in classes]),
        left_starts=_integers(bisect_left(wide, (symbol, 0)) for symbol in numbers),
        wide_starts=_integers(bisect_left(wide, (symbol, 1)) for symbol in numbers[:-1]),
        right=_integers(right for _, _, right, _ in by_left),
        parent=_integers(parent for *_, parent in by_left),
        unary_child=_integers(child for _, child in by_parent),
        unary_parent=_integers(parent for parent, _ in by_parent),
    )


def _integers(values: Iterable[int]) -> Array:
    return np.array(list(values), np.int64)


def _unique(items: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(items))
