"""Charts over the normal form of a grammar in numba: each row of the batch by itself, in float64.

The derivation is in README.md. Cell (i, k) is number k(k−1)/2 + i, and a chart's row: one number per symbol.
`alive[cell, :living[cell]]` lists the symbols that derive something there.
"""

import math

import numpy as np
import torch
from torch import Tensor

from ftor.grammar.normal_form import NormalForm
from ftor.ops.cyk.naive import IMPOSSIBLE
from ftor.ops.simd import kernel
from ftor.ops.threads import Array, as_array, run_rows

MOST_ATTEMPTS = 10_000
"""How many derivations are drawn for one sample before giving up."""


def best_strings(
    scores: Tensor, lengths: Tensor, form: NormalForm, terminals: int, n: int, strings: Tensor
) -> tuple[Tensor, Tensor]:
    """The n best different strings of each row: scores (B, n) and columns (B, n, L)."""
    log_scores = scores.new_full((scores.shape[0], n), -torch.inf)
    columns = torch.full((*log_scores.shape, scores.shape[1]), -1)
    out = log_scores.numpy(), columns.numpy()
    arrays = as_array(scores), as_array(lengths), as_array(strings)
    run_rows(_best_strings, _seconds(lengths, form), form, *arrays, terminals, *out)
    return log_scores, columns


def sample_strings(
    scores: Tensor, lengths: Tensor, form: NormalForm, terminals: int, count: int, seeds: Tensor
) -> Tensor:
    """Columns (B, count, L) of `count` strings per row, a function of `seeds` (B,) int64."""
    columns = torch.full((scores.shape[0], count, scores.shape[1]), -1)
    failed = np.zeros(scores.shape[0], np.bool_)
    arrays = as_array(scores), as_array(lengths), as_array(seeds).astype(np.uint64)
    seconds = _seconds(lengths, form) * (10 + count)
    run_rows(_sample_strings, seconds, form, *arrays, terminals, MOST_ATTEMPTS, columns.numpy(), failed)
    if failed.any():
        row = int(failed.nonzero()[0][0])
        raise RuntimeError(
            f"sample: expected a string within {MOST_ATTEMPTS} attempts, found none in row {row}: the "
            "grammar derives its strings in too many ways"
        )
    return columns


def _seconds(lengths: Tensor, form: NormalForm) -> Array:
    spans = as_array(lengths).astype(np.float64) ** 2 / 2
    return spans * (len(form.right) + len(form.unary_child) + form.symbols) * 2e-9


@kernel
def _cell(i, k):
    return k * (k - 1) // 2 + i


@kernel
def _mixed(x):
    """Bits of x as good as random (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def _name(position, string):
    """A number for a word at a position; a string's is the sum of its words', in whatever order added."""
    return _mixed(_mixed(np.uint64(position) + np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(string))


@kernel
def _insert(values, names, back, first, n, found, value, name, origin):
    """Put a string into the list of the n best from `first` on, or raise it there; returns the list's size.

    Flat arrays and an index, not slices of arrays: those cost more than all the rest.
    """
    if found == n and not value > values[first + n - 1]:
        return found
    at = first + found
    for r in range(first, first + found):
        if names[r] == name:
            at = r
    if at < first + found:
        if not value > values[at]:
            return found
    else:
        found = min(found + 1, n)
        at = first + found - 1
    while at > first and value > values[at - 1]:
        values[at], names[at], back[at] = values[at - 1], names[at - 1], back[at - 1]
        at -= 1
    values[at], names[at], back[at] = value, name, origin
    return found


@kernel
def _best_strings(rows, form, scores, lengths, strings, terminals, log_scores, columns):
    longest, n = 0, log_scores.shape[1]
    for b in rows:
        longest = max(longest, lengths[b])
    cells = longest * (longest + 1) // 2
    values = np.empty(cells * form.symbols * n)
    names = np.empty(cells * form.symbols * n, np.uint64)
    back = np.empty(cells * form.symbols * n, np.int64)
    found = np.empty(cells * form.symbols, np.int64)
    alive, living = np.empty((cells, form.symbols), np.int64), np.empty(cells, np.int64)
    stack = np.empty((longest + 1, 4), np.int64)
    for b in rows:
        length = lengths[b]
        for k in range(1, length + 1):
            for i in range(k - 1, -1, -1):
                cell = _cell(i, k)
                found[cell * form.symbols : (cell + 1) * form.symbols] = 0
                if k == i + 1:
                    _fill_tokens(
                        form, scores[b, i], strings[b], i, terminals, cell, n, values, names, back, found
                    )
                _fill_pairs(form, i, k, n, values, names, back, found, alive, living)
                _fill_unary(form, cell, n, values, names, back, found)
                living[cell] = _list_alive(form, found[cell * form.symbols :], alive[cell])
        root = _cell(0, length) * form.symbols + form.start
        for r in range(found[root]):
            log_scores[b, r] = values[root * n + r]
            _trace(form, length, r, n, back, stack, columns[b, r])


@kernel
def _fill_tokens(form, scores, strings, position, terminals, cell, n, values, names, back, found):
    for c in range(len(form.copies)):
        here = cell * form.symbols + c
        own = form.token_starts[c + 1] - form.token_starts[c]
        for at in range(own + (len(scores) - terminals) * form.copies[c]):
            column = form.tokens[form.token_starts[c] + at] if at < own else terminals + at - own
            if scores[column] > IMPOSSIBLE:
                name = _name(position, strings[column])
                found[here] = _insert(
                    values, names, back, here * n, n, found[here], scores[column], name, column
                )


@kernel
def _fill_pairs(form, i, k, n, values, names, back, found, alive, living):
    left_starts, rights, parents = form.left_starts, form.right, form.parent
    cell = _cell(i, k) * form.symbols
    for j in range(i + 1, k):
        left_cell, right_cell = _cell(i, j), _cell(j, k) * form.symbols
        for at in range(living[left_cell]):
            symbol = alive[left_cell, at]
            left = left_cell * form.symbols + symbol
            for rule in range(left_starts[symbol], left_starts[symbol + 1]):
                right = right_cell + rights[rule]
                if found[right] == 0:
                    continue
                here = cell + parents[rule]
                if found[here] == n and not values[left * n] + values[right * n] > values[here * n + n - 1]:
                    continue
                # Ranks x, y come after (x+1)(y+1) − 1 other strings of the same two parts.
                for x in range(found[left]):
                    for y in range(min(found[right], n // (x + 1))):
                        value = values[left * n + x] + values[right * n + y]
                        name = names[left * n + x] + names[right * n + y]
                        origin = ((rule * (k + 1) + j) * n + x) * n + y
                        found[here] = _insert(
                            values, names, back, here * n, n, found[here], value, name, origin
                        )


@kernel
def _fill_unary(form, cell, n, values, names, back, found):
    for rule in range(len(form.unary_child)):
        child = cell * form.symbols + form.unary_child[rule]
        here = cell * form.symbols + form.unary_parent[rule]
        for r in range(found[child]):
            value, name = values[child * n + r], names[child * n + r]
            found[here] = _insert(
                values, names, back, here * n, n, found[here], value, name, -1 - (rule * n + r)
            )


@kernel
def _list_alive(form, found, alive):
    """List the symbols that derive something and that some rule has on its left; returns how many."""
    living = 0
    for symbol in range(form.symbols):
        if found[symbol] and form.left_starts[symbol] < form.left_starts[symbol + 1]:
            alive[living] = symbol
            living += 1
    return living


@kernel
def _trace(form, length, rank, n, back, stack, columns):
    """Write down the string of a rank by following where each part of it came from."""
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, length, form.start, rank
    height = 1
    while height:
        height -= 1
        i, k, symbol, r = stack[height]
        cell = _cell(i, k) * form.symbols
        origin = back[(cell + symbol) * n + r]
        while origin < 0:  # by a unary rule
            symbol, r = form.unary_child[(-1 - origin) // n], (-1 - origin) % n
            origin = back[(cell + symbol) * n + r]
        if symbol < len(form.copies):
            columns[i] = origin
            continue
        origin, y = divmod(origin, n)
        origin, x = divmod(origin, n)
        rule, j = divmod(origin, k + 1)
        left = np.searchsorted(form.left_starts, rule, side="right") - 1
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = i, j, left, x
        height += 1
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = j, k, form.right[rule], y
        height += 1


@kernel
def _log_add(a, b):
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


@kernel
def _inside(form, tokens, length, chart, alive, living):
    """Fill chart[cell, symbol] = log Σ exp(score) of its derivations; `tokens` (length, C) are the leaves."""
    for k in range(1, length + 1):
        for i in range(k - 1, -1, -1):
            cell = _cell(i, k)
            chart[cell] = -math.inf
            if k == i + 1:
                chart[cell, : len(form.copies)] = tokens[i]
            for j in range(i + 1, k):
                left, right = _cell(i, j), _cell(j, k)
                for at in range(living[left]):
                    symbol = alive[left, at]
                    for rule in range(form.left_starts[symbol], form.left_starts[symbol + 1]):
                        value = chart[left, symbol] + chart[right, form.right[rule]]
                        if value > -math.inf:
                            parent = form.parent[rule]
                            chart[cell, parent] = _log_add(chart[cell, parent], value)
            for rule in range(len(form.unary_child)):
                value, parent = chart[cell, form.unary_child[rule]], form.unary_parent[rule]
                if value > -math.inf:
                    chart[cell, parent] = _log_add(chart[cell, parent], value)
            living[cell] = _list_alive(form, chart[cell] > -math.inf, alive[cell])


@kernel
def _uniform(state):
    """The next number in [0, 1); moves `state` (1,) on."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(_mixed(state[0]) >> np.uint64(11)) * 2.0**-53


@kernel
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


@kernel
def _draw(form, scores, terminals, length, chart, alive, living, state, stack, string):
    """Draw a derivation top-down, and write down its string."""
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, length, form.start
    height = 1
    while height:
        height -= 1
        i, k, symbol = stack[height]
        cell = _cell(i, k)
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
            cell_left, cell_right = _cell(i, j), _cell(j, k)
            for at in range(living[cell_left]):
                child = alive[cell_left, at]
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


@kernel
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


@kernel
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
    chart, counts = np.empty((cells, form.symbols)), np.empty((cells, form.symbols))
    alive, living = np.empty((cells, form.symbols), np.int64), np.empty(cells, np.int64)
    count_alive, count_living = np.empty((cells, form.symbols), np.int64), np.empty(cells, np.int64)
    tokens = np.empty((longest, len(form.copies)))
    stack, state = np.empty((longest + 1, 3), np.int64), np.empty(1, np.uint64)
    for b in rows:
        length = lengths[b]
        state[0] = seeds[b]
        for i in range(length):
            _class_totals(form, scores[b, i], terminals, tokens[i])
        _inside(form, tokens, length, chart, alive, living)
        root = _cell(0, length)
        if chart[root, form.start] == -math.inf:
            continue
        for r in range(columns.shape[1]):
            string, accepted = columns[b, r], False
            for _ in range(most_attempts):
                _draw(form, scores[b], terminals, length, chart, alive, living, state, stack, string)
                # A string is drawn once for each of its derivations: accept one in so many.
                for i in range(length):
                    _class_members(form, string[i], terminals, tokens[i])
                _inside(form, tokens, length, counts, count_alive, count_living)
                if _uniform(state) < math.exp(-counts[root, form.start]) * (1.0 + 1e-9):
                    accepted = True
                    break
            if not accepted:
                failed[b] = True
                break
