"""Charts over the normal form of a grammar in numba: each row of the batch by itself, in float64.

The derivation is in README.md. A chart is flat: symbol s of span (i, k) is at `_place(form, i, k) + s`. Token
classes have no place in spans that are wider than one token. Each place has n values. `sizes[place]` of them
belong to strings; the others are −inf. `lefts[cell, :left_counts[cell]]` lists the symbols that have a string
in a span and that some rule has on its left.
"""

import numpy as np
import torch
from torch import Tensor

from ftor.ops.arrays import Array, as_array
from ftor.ops.cyk.normal_form import NormalForm
from ftor.ops.dispatch import IMPOSSIBLE
from ftor.ops.simd import kernel, part
from ftor.ops.threads import run_rows


def best_strings(
    scores: Tensor, lengths: Tensor, form: NormalForm, terminals: int, n: int, strings: Tensor
) -> tuple[Tensor, Tensor]:
    """The n best different strings of each row: scores (B, n) and columns (B, n, L)."""
    log_scores = scores.new_full((scores.shape[0], n), -torch.inf)
    columns = torch.full((*log_scores.shape, scores.shape[1]), -1)
    out = log_scores.numpy(), columns.numpy()
    arrays = as_array(scores), as_array(lengths), as_array(strings)
    run_rows(_best_strings, seconds(lengths, form), form, *arrays, terminals, *out)
    return log_scores, columns


def seconds(lengths: Tensor, form: NormalForm) -> Array:
    """About how long each row's chart takes: (B,)."""
    spans = as_array(lengths).astype(np.float64) ** 2 / 2
    return spans * (len(form.right) + len(form.unary_child) + form.symbols) * 2e-9


@part
def cell_number(i, k):
    """The number of a span; k(k−1)/2 spans end before k."""
    return k * (k - 1) // 2 + i


@part
def _place(form, i, k):
    """Where symbol 0 of a span would be in a chart; token classes are only in spans of one token."""
    classes = len(form.copies)
    return cell_number(i, k) * (form.symbols - classes) + (k - 1 - (k > i + 1)) * classes


@part
def _places(form, longest):
    """The number of places of a chart for strings of up to `longest` tokens."""
    return cell_number(0, longest + 1) * (form.symbols - len(form.copies)) + longest * len(form.copies)


@part
def mixed(x):
    """Mix the bits of x (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@part
def _name(position, string):
    """A number for a word at a position. The number of a string is the sum of those of its words."""
    return mixed(mixed(np.uint64(position) + np.uint64(0x9E3779B97F4A7C15)) ^ np.uint64(string))


@part
def _insert(values, names, back, first, n, size, value, name, origin):
    """Put a string into the list of the n best from `first` on, or move it up there. Returns the list's size.

    The arguments are flat arrays and an index: slices of arrays would take more time than all the rest.
    """
    if not value > values[first + n - 1]:
        return size
    at = first + size
    for r in range(first, first + size):
        if names[r] == name:
            at = r
    if at < first + size:
        if not value > values[at]:
            return size
    else:
        size = min(size + 1, n)
        at = first + size - 1
    while at > first and value > values[at - 1]:
        values[at], names[at], back[at] = values[at - 1], names[at - 1], back[at - 1]
        at -= 1
    values[at], names[at], back[at] = value, name, origin
    return size


@kernel
def _best_strings(rows, form, scores, lengths, strings, terminals, log_scores, columns):
    longest, n = 0, log_scores.shape[1]
    for b in rows:
        longest = max(longest, lengths[b])
    places = _places(form, longest)
    values, names = np.empty(places * n), np.empty(places * n, np.uint64)
    back, sizes = np.empty(places * n, np.int64), np.empty(places, np.int64)
    lefts = np.empty((cell_number(0, longest + 1), form.symbols), np.int64)
    left_counts = np.empty(len(lefts), np.int64)
    stack = np.empty((longest + 1, 4), np.int64)
    for b in rows:
        length = lengths[b]
        sizes[: _places(form, length)] = 0
        values[: _places(form, length) * n] = -np.inf
        for k in range(1, length + 1):
            _fill_tokens(form, scores[b, k - 1], strings[b], k - 1, terminals, n, values, names, back, sizes)
            for i in range(k - 1, -1, -1):
                _fill_pairs(form, i, k, n, values, names, back, sizes, lefts, left_counts)
                _fill_unary(form, i, k, n, values, names, back, sizes)
                left_counts[cell_number(i, k)] = _list_lefts(form, i, k, sizes, lefts[cell_number(i, k)])
        if length > 1 and form.start < len(form.copies):
            continue  # the start is a class of tokens
        root = _place(form, 0, length) + form.start
        for r in range(sizes[root]):
            log_scores[b, r] = values[root * n + r]
            _trace(form, length, r, n, back, stack, columns[b, r])


@part
def _fill_tokens(form, scores, strings, position, terminals, n, values, names, back, sizes):
    starts, tokens, copies = form.token_starts, form.tokens, form.copies
    place = _place(form, position, position + 1)
    for c in range(len(copies)):
        own = starts[c + 1] - starts[c]
        for at in range(own + (len(scores) - terminals) * copies[c]):
            column = tokens[starts[c] + at] if at < own else terminals + at - own
            here, value = place + c, np.float64(scores[column])
            if not (value > IMPOSSIBLE and value > values[here * n + n - 1]):
                continue
            if n == 1:
                values[here], back[here], sizes[here] = value, column, 1
                continue
            name = _name(position, strings[column])
            sizes[here] = _insert(values, names, back, here * n, n, sizes[here], value, name, column)


@part
def _fill_pairs(form, i, k, n, values, names, back, sizes, lefts, left_counts):
    starts, rights, parents = form.left_starts, form.right, form.parent
    place = _place(form, i, k)
    for j in range(i + 1, k):
        cell, left_place, right_place = cell_number(i, j), _place(form, i, j), _place(form, j, k)
        for at in range(left_counts[cell]):
            symbol = lefts[cell, at]
            left = left_place + symbol
            best = values[left * n]
            first = starts[symbol] if j + 1 == k else form.wide_starts[symbol]
            for rule in range(first, starts[symbol + 1]):
                right, here = right_place + rights[rule], place + parents[rule]
                value = best + values[right * n]
                if not value > values[here * n + n - 1]:
                    continue
                origin = rule * (k + 1) + j
                if n == 1:
                    values[here], back[here], sizes[here] = value, origin, 1
                    continue
                # Ranks x, y come after (x+1)(y+1) − 1 other strings of the same two parts.
                for x in range(sizes[left]):
                    for y in range(min(sizes[right], n // (x + 1))):
                        value = values[left * n + x] + values[right * n + y]
                        if not value > values[here * n + n - 1]:
                            break
                        name = names[left * n + x] + names[right * n + y]
                        way = (origin * n + x) * n + y
                        sizes[here] = _insert(values, names, back, here * n, n, sizes[here], value, name, way)


@part
def _fill_unary(form, i, k, n, values, names, back, sizes):
    children, parents = form.unary_child, form.unary_parent
    place = _place(form, i, k)
    least = 0 if k == i + 1 else len(form.copies)
    for rule in range(len(children)):
        if children[rule] < least:
            continue
        child, here = place + children[rule], place + parents[rule]
        for r in range(sizes[child]):
            value, name = values[child * n + r], names[child * n + r]
            way = -1 - (rule * n + r)
            sizes[here] = _insert(values, names, back, here * n, n, sizes[here], value, name, way)


@part
def _list_lefts(form, i, k, sizes, lefts):
    """List the symbols that have a string in a span and that start some rule. Returns their number."""
    starts, place, count = form.left_starts, _place(form, i, k), 0
    for symbol in range(0 if k == i + 1 else len(form.copies), form.symbols):
        if sizes[place + symbol] and starts[symbol] < starts[symbol + 1]:
            lefts[count] = symbol
            count += 1
    return count


@part
def _trace(form, length, rank, n, back, stack, columns):
    """Write the string of a rank into `columns`, by following where each part of it came from."""
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, length, form.start, rank
    height = 1
    while height:
        height -= 1
        i, k, symbol, r = stack[height]
        place = _place(form, i, k)
        origin = back[(place + symbol) * n + r]
        while origin < 0:  # by a unary rule
            symbol, r = form.unary_child[(-1 - origin) // n], (-1 - origin) % n
            origin = back[(place + symbol) * n + r]
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
