"""A grammar as the chart algorithms read it: tables of numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftor.ops.arrays import Array


class NormalForm(NamedTuple):
    """Token classes (one token each), binary rules A → B C and unary rules A → B without cycles.

    Symbols are numbers: token classes 0..C−1, then names, such that unary rules lead to smaller numbers.
    Tokens are numbered as the grammar's terminals, 0..T−1. The binary rules with left child B are those from
    `left_starts[B]` to `left_starts[B + 1]`; from `wide_starts[B]` on, the right child is a name, which can
    be wider than one token.
    """

    start: int
    symbols: int
    token_starts: Array  # (C+1,) where each class's tokens start in `tokens`
    tokens: Array
    copies: Array  # (C,) whether the class also holds the words of the sentence
    left_starts: Array  # (symbols+1,)
    wide_starts: Array  # (symbols,)
    right: Array  # (binary rules,)
    parent: Array
    unary_child: Array  # (unary rules,), ordered by parent
    unary_parent: Array

    @property
    def classes(self) -> int:
        """The number of token classes."""
        return len(self.copies)


def derivable_lengths(form: NormalForm, longest: int, writable: Array, copies: bool) -> Array:
    """Which lengths 0..longest some string of at least one token has: (longest + 1,) of bool.

    Only tokens that are `writable` (T,) count. Words of the sentence count if `copies`.
    """
    table = np.zeros((form.symbols, longest + 1), np.bool_)  # [symbol, length]
    if longest:
        ranges = zip(form.token_starts[:-1], form.token_starts[1:], strict=True)
        table[: form.classes, 1] = [writable[form.tokens[first:last]].any() for first, last in ranges]
        table[: form.classes, 1] |= form.copies.astype(np.bool_) & copies
    left = np.repeat(np.arange(form.symbols), np.diff(form.left_starts))
    for length in range(1, longest + 1):
        there = (table[left, 1:length] & table[form.right, length - 1 : 0 : -1]).any(1)
        table[form.parent[there], length] = True
        for parent, child in zip(form.unary_parent, form.unary_child, strict=True):
            table[parent, length] |= table[child, length]
    lengths: Array = table[form.start]
    return lengths
