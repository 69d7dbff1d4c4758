"""Samples of a grammar's strings in numba: derivations from the inside chart, corrected for ambiguity.

The derivation is in README.md. Charts hold logarithms in float64, one row per span and one number
per symbol. `present[cell, :counts[cell]]` lists the symbols that derive something in a span.
"""

import math

import numpy as np
import torch
from torch import Tensor

from ftor.ops.arrays import as_array
from ftor.ops.cyk.cpu import cell_number, mixed, seconds
from ftor.ops.cyk.normal_form import NormalForm
from ftor.ops.dispatch import IMPOSSIBLE
from ftor.ops.simd import kernel, part
from ftor.ops.threads import run_rows

MOST_ATTEMPTS = 10_000
"""The number of derivations that are drawn for one sample before giving up."""


def sample_strings(
    scores: Tensor, lengths: Tensor, form: NormalForm, terminals: int, count: int, seeds: Tensor
) -> Tensor:
    """Columns (B, count, L) of `count` strings per row, a function of `seeds` (B,) int64."""
    columns = torch.full((scores.shape[0], count, scores.shape[1]), -1)
    failed = np.zeros(scores.shape[0], np.bool_)
    arrays = as_array(scores), as_array(lengths), as_array(seeds).astype(np.uint64)
    times = seconds(lengths, form) * (10 + count)
    run_rows(_sample_strings, times, form, *arrays, terminals, MOST_ATTEMPTS, columns.numpy(), failed)
    if failed.any():
        row = int(failed.nonzero()[0][0])
        raise RuntimeError(
            f"sample: no string within {MOST_ATTEMPTS} attempts in row {row}: the grammar derives its "
            "strings in too many ways"
        )
    return columns


@part
def _log_add(a, b):
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


@part
def _inside(form, tokens, length, chart, present, counts):
    """Fill chart[cell, symbol] = log Σ exp(score) of its derivations; `tokens` (length, C) are the leaves."""
    for k in range(1, length + 1):
        for i in range(k - 1, -1, -1):
            cell = cell_number(i, k)
            chart[cell] = -math.inf
            if k == i + 1:
                chart[cell, : len(form.copies)] = tokens[i]
            for j in range(i + 1, k):
                left, right = cell_number(i, j), cell_number(j, k)
                for at in range(counts[left]):
                    symbol = present[left, at]
                    for rule in range(form.left_starts[symbol], form.left_starts[symbol + 1]):
                        value = chart[left, symbol] + chart[right, form.right[rule]]
                        if value > -math.inf:
                            parent = form.parent[rule]
                            chart[cell, parent] = _log_add(chart[cell, parent], value)
            for rule in range(len(form.unary_child)):
                value, parent = chart[cell, form.unary_child[rule]], form.unary_parent[rule]
                if value > -math.inf:
                    chart[cell, parent] = _log_add(chart[cell, parent], value)
            counts[cell] = 0
            for symbol in range(form.symbols):
                if chart[cell, symbol] > -math.inf:
                    present[cell, counts[cell]] = symbol
                    counts[cell] += 1


@part
def _uniform(state):
    """The next number in [0, 1); changes `state` (1,)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(mixed(state[0]) >> np.uint64(11)) * 2.0**-53


@part
def _draw_token(form, scores, c, terminals, total, state):
    """A column of class c with probability exp(score − total)."""
    left, last = _uniform(state), -1
    stop = len(scores) if form.copies[c] else terminals
    for at in range(form.token_starts[c], form.token_starts[c + 1] + stop - terminals):
        past = at - form.token_starts[c + 1]
        column = form.tokens[at] if past < 0 else terminals + past
        if scores[column] > IMPOSSIBLE:
            last = column
            left -= math.exp(scores[column] - total)
            if left < 0.0:
                break
    return last


@part
def _draw(form, scores, terminals, length, chart, present, counts, state, stack, string):
    """Draw a derivation top-down, and write its string into `string`."""
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, length, form.start
    height = 1
    while height:
        height -= 1
        i, k, symbol = stack[height]
        cell = cell_number(i, k)
        total = chart[cell, symbol]
        if symbol < len(form.copies):
            string[i] = _draw_token(form, scores[i], symbol, terminals, total, state)
            continue
        left, kind, last_rule, split = _uniform(state), 0, -1, -1
        for rule in range(len(form.unary_child)):
            if left >= 0.0 and form.unary_parent[rule] == symbol:
                value = chart[cell, form.unary_child[rule]]
                if value > -math.inf:
                    kind, last_rule = 1, rule
                    left -= math.exp(value - total)
        for j in range(i + 1, k):
            if left < 0.0:
                break
            cell_left, cell_right = cell_number(i, j), cell_number(j, k)
            for at in range(counts[cell_left]):
                child = present[cell_left, at]
                for rule in range(form.left_starts[child], form.left_starts[child + 1]):
                    if left >= 0.0 and form.parent[rule] == symbol:
                        value = chart[cell_left, child] + chart[cell_right, form.right[rule]]
                        if value > -math.inf:
                            kind, last_rule, split = 2, rule, j
                            left -= math.exp(value - total)
        if kind == 1:
            stack[height, 0], stack[height, 1], stack[height, 2] = i, k, form.unary_child[last_rule]
            height += 1
        else:
            child = np.searchsorted(form.left_starts, last_rule, side="right") - 1
            stack[height, 0], stack[height, 1], stack[height, 2] = i, split, child
            height += 1
            stack[height, 0], stack[height, 1], stack[height, 2] = split, k, form.right[last_rule]
            height += 1


@part
def _class_totals(form, scores, terminals, tokens):
    """Fill tokens[c] = log Σ exp(score) of each class's columns."""
    for c in range(len(form.copies)):
        tokens[c] = -math.inf
        for t in range(form.token_starts[c], form.token_starts[c + 1]):
            if scores[form.tokens[t]] > IMPOSSIBLE:
                tokens[c] = _log_add(tokens[c], np.float64(scores[form.tokens[t]]))
        if form.copies[c]:
            for column in range(terminals, len(scores)):
                if scores[column] > IMPOSSIBLE:
                    tokens[c] = _log_add(tokens[c], np.float64(scores[column]))


@part
def _class_members(form, column, terminals, tokens):
    """Fill tokens[c] = 0 if the class has the column, else −inf."""
    for c in range(len(form.copies)):
        tokens[c] = 0.0 if form.copies[c] and column >= terminals else -math.inf
        for t in range(form.token_starts[c], form.token_starts[c + 1]):
            if form.tokens[t] == column:
                tokens[c] = 0.0


@kernel
def _sample_strings(rows, form, scores, lengths, seeds, terminals, most_attempts, columns, failed):
    longest = 0
    for b in rows:
        longest = max(longest, lengths[b])
    cells = longest * (longest + 1) // 2
    chart, derivations = np.empty((cells, form.symbols)), np.empty((cells, form.symbols))
    present, counts = np.empty((cells, form.symbols), np.int64), np.empty(cells, np.int64)
    present_again, counts_again = np.empty((cells, form.symbols), np.int64), np.empty(cells, np.int64)
    tokens = np.empty((longest, len(form.copies)))
    stack, state = np.empty((longest + 1, 3), np.int64), np.empty(1, np.uint64)
    for b in rows:
        length = lengths[b]
        state[0] = seeds[b]
        for i in range(length):
            _class_totals(form, scores[b, i], terminals, tokens[i])
        _inside(form, tokens, length, chart, present, counts)
        root = cell_number(0, length)
        if chart[root, form.start] == -math.inf:
            continue
        for r in range(columns.shape[1]):
            string, accepted = columns[b, r], False
            for _ in range(most_attempts):
                _draw(form, scores[b], terminals, length, chart, present, counts, state, stack, string)
                # A string is drawn once for each of its c derivations: accept it with probability 1/c.
                for i in range(length):
                    _class_members(form, string[i], terminals, tokens[i])
                _inside(form, tokens, length, derivations, present_again, counts_again)
                if _uniform(state) < math.exp(-derivations[root, form.start]):
                    accepted = True
                    break
            if not accepted:
                failed[b] = True
                break
