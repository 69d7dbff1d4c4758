"""The fused span scorer on the CPU. Hidden units are not stored; the backward pass computes them again.

For a fixed split point j, the pre-activations of all (i, k) are the sums of a left row, start_i, and a
right row, split_j + end_k: a rectangle. Both passes have its shorter side in the outer loop and its longer
side in the inner loop, with sums in registers. Arrays are flat; H is a multiple of `PAIR`. In the working
arrays, row i is row i of the left side, and row `length + 1 + k` is row k of the right side.

Without `split`, hidden units come from differences of fence posts: with `start` and `end` the projections
by both parts' weights, start_i is −start[i], end_k is end[k], and split_j is shift + start[j] − end[j].
"""

from typing import Any

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from ftor.ops import splits
from ftor.ops.arrays import Array, as_array
from ftor.ops.check import check_range
from ftor.ops.simd import WIDTH, fill, fma, keep, kernel, load, part, relu, spread, step, store, totals
from ftor.ops.span_scores import dropout
from ftor.ops.threads import run_rows

TILE = 4  # inner rows per step of the forward pass; fills the 16 registers of AVX2
PAIR = 2 * WIDTH  # hidden units per round of the backward pass; H is padded to a multiple of it
BLOCK = 128  # hidden units per round of the forward pass; keeps the inner rows in or near a 32 KiB cache

first_split = part(splits.first_split)
pair_key = part(dropout.pair_key)


def span_scores(
    start: Tensor,
    split: Tensor | None,
    end: Tensor,
    shift: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    p: float,
    seed: int,
) -> Tensor:
    """Scores (B, S, 2), before the scaling of kept units by 1/(1−p)."""
    B, posts, _ = start.shape
    scores = start.new_zeros(B, splits.number_of_splits(posts - 1), 2)
    inputs = (*_flat(start, start if split is None else split, end, shift, weight), as_array(bias))
    check_range("lengths", lengths, 1, posts - 1)  # the kernel would read past the ends of arrays
    sizes, shape = as_array(lengths), _shape(start, p, seed)
    run_rows(_forward, _seconds(sizes, start), *inputs, sizes, *shape, scores.numpy())
    return scores


def span_scores_backward(
    grad: Tensor,
    start: Tensor,
    split: Tensor | None,
    end: Tensor,
    shift: Tensor | None,
    weight: Tensor,
    lengths: Tensor,
    p: float,
    seed: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients of `span_scores` for start, split or shift, end, weight and bias."""
    B, posts, H = start.shape
    width = H + -H % PAIR
    middles = posts if shift is None else 1
    grads = [start.new_empty(B, rows, width) for rows in (posts, middles, posts, 2)]
    grad_bias = start.new_empty(B, 2)
    sizes, shape = as_array(lengths), _shape(start, p, seed)
    inputs = _flat(start, start if split is None else split, end, shift, weight)
    outputs = _flat(*grads)
    run_rows(
        _backward, _seconds(sizes, start), *inputs, sizes, *shape, as_array(grad), *outputs, grad_bias.numpy()
    )
    d_start, d_middle, d_end, d_weight = (grad[..., :H].contiguous() for grad in grads)
    d_middle = d_middle if shift is None else d_middle.sum((0, 1))
    return d_start, d_middle, d_end, d_weight.sum(0), grad_bias.sum(0)


def _seconds(lengths: Array, start: Tensor) -> Array:
    """An estimate of the seconds of each row."""
    return lengths**3 * (start.shape[-1] * 2e-11)


def _flat(*tensors: Tensor | None) -> list[Array | None]:
    """The tensors as flat arrays, their last dimension padded with zeros to full vectors.

    A kernel compiles both sides of `x is None` unless x is None, so only `shift` may be missing in calls.
    """

    def flat(tensor: Tensor) -> Array:
        missing = -tensor.shape[-1] % PAIR
        return as_array(F.pad(tensor, (0, missing)) if missing else tensor).reshape(-1)

    return [None if tensor is None else flat(tensor) for tensor in tensors]


def _shape(start: Tensor, p: float, seed: int) -> tuple[Any, ...]:
    """(L, H in full vectors, keys of rows, keys of units, threshold), without keys if p is 0."""
    B, posts, H = start.shape
    width = H + -H % PAIR
    if p == 0:
        return posts - 1, width, None, None, np.int32(0)
    left, right, units = dropout.make_keys(seed, np.arange(B), np.arange(width))
    return posts - 1, width, np.stack([left, right]), units.astype(np.int32), np.int32(dropout.threshold(p))


@part
def _sides(j, length):
    """(first outer row, how many, first inner row, how many), the shorter side outside."""
    right = length + 2 + j
    if j <= length - j:
        return 0, j, right, length - j
    return right, length - j, 0, j


@part
def _split_of(outer, inner, length):
    """(i, k) of a pair of working rows."""
    return min(outer, inner), max(outer, inner) - length - 1


@part
def _first_places(L):
    """firsts[i, k] + j is the place of split (i, j, k) in the packed layout."""
    firsts = np.zeros((L + 1, L + 1), np.int64)
    for i in range(L + 1):
        for k in range(i + 2, L + 1):
            firsts[i, k] = first_split(k - i, L) + i * (k - i - 1) - i - 1
    return firsts


@part
def _dropout_keys(row_keys, b, length, keys, stride):
    """keys[j·stride + row] = the dropout key of a working row at split point j."""
    for j in range(1, length):
        for i in range(j):
            keys[j * stride + i] = np.int32(pair_key(row_keys[0, b], i, j))
        for k in range(j + 1, length + 1):
            keys[j * stride + length + 1 + k] = np.int32(pair_key(row_keys[1, b], k, j))


@part
def _left(start, shift, at):
    """Left part start_i of eight hidden units."""
    if shift is None:
        return load(start, at)
    return fill(start.dtype.type(0)) - load(start, at)


@part
def _middle(start, split, end, shift, at, unit):
    """Middle part split_j of eight hidden units."""
    if shift is None:
        return load(split, at)
    return load(shift, unit) + (load(start, at) - load(end, at))


@kernel
def _forward(rows, start, split, end, shift, weight, bias, lengths, L, H, row_keys, unit_keys, limit, scores):
    """Write scores[b, split(i, j, k), op] = bias + Σ_h weight · keep(relu(start_i + split_j + end_k)).

    `row_keys` (2, B) and `unit_keys` (H,) are those of dropout, or None without.
    """
    zero, limits = fill(weight.dtype.type(0)), fill(limit)
    posts = np.zeros((2 * L + 2 + TILE) * BLOCK, weight.dtype)
    noise = np.zeros(BLOCK, np.int32)
    stride = 2 * L + 2 + TILE
    keys = np.zeros(0 if row_keys is None else (L + 1) * stride, np.int32)
    sums = np.empty(_number_of_tiles(L) * WIDTH, weight.dtype)
    firsts = _first_places(L)
    for b in rows:
        length, base = lengths[b], b * (L + 1) * H
        right = length + 1
        sums[:] = 0
        if row_keys is not None:
            _dropout_keys(row_keys, b, length, keys, stride)
        for block in range(0, H, BLOCK):
            size, at = min(BLOCK, H - block), 0
            for i in range(length):
                for h in range(0, size, WIDTH):
                    store(posts, i * BLOCK + h, _left(start, shift, base + i * H + block + h))
            for j in range(1, length):
                for h in range(0, size, WIDTH):
                    here = base + block + h
                    middle = _middle(start, split, end, shift, here + j * H, block + h)
                    for k in range(j + 1, length + 1):
                        store(posts, (right + k) * BLOCK + h, middle + load(end, here + k * H))
                outer, outers, inner, inners = _sides(j, length)
                for o in range(outer, outer + outers):
                    if row_keys is not None:
                        for h in range(0, size, WIDTH):
                            store(noise, h, spread(keys, j * stride + o) * load(unit_keys, block + h))
                    for n in range(inner, inner + inners, TILE):
                        if row_keys is not None:
                            at_key = j * stride + n
                            key0, key1 = spread(keys, at_key), spread(keys, at_key + 1)
                            key2, key3 = spread(keys, at_key + 2), spread(keys, at_key + 3)
                        a0, a1, a2, a3, b0, b1, b2, b3 = zero, zero, zero, zero, zero, zero, zero, zero
                        for h in range(0, size, WIDTH):
                            x, y = load(posts, o * BLOCK + h), n * BLOCK + h
                            p0, p1 = x + load(posts, y), x + load(posts, y + BLOCK)
                            p2, p3 = x + load(posts, y + 2 * BLOCK), x + load(posts, y + 3 * BLOCK)
                            if row_keys is not None:
                                e = load(noise, h)
                                p0, p1 = keep(p0, e * key0, limits), keep(p1, e * key1, limits)
                                p2, p3 = keep(p2, e * key2, limits), keep(p3, e * key3, limits)
                            p0, p1, p2, p3 = relu(p0), relu(p1), relu(p2), relu(p3)
                            v, w = load(weight, block + h), load(weight, H + block + h)
                            a0, a1, a2, a3 = fma(v, p0, a0), fma(v, p1, a1), fma(v, p2, a2), fma(v, p3, a3)
                            b0, b1, b2, b3 = fma(w, p0, b0), fma(w, p1, b1), fma(w, p2, b2), fma(w, p3, b3)
                        store(sums, at, load(sums, at) + totals(a0, b0, a1, b1, a2, b2, a3, b3))
                        at += WIDTH
        _put(sums, bias, length, firsts, scores[b])


@part
def _number_of_tiles(length):
    tiles = 0
    for j in range(1, length):
        _, outers, _, inners = _sides(j, length)
        tiles += outers * ((inners + TILE - 1) // TILE)
    return tiles


@part
def _put(sums, bias, length, firsts, scores):
    """Write the sums of the tiles into the packed layout."""
    at = 0
    for j in range(1, length):
        outer, outers, inner, inners = _sides(j, length)
        for o in range(outer, outer + outers):
            for n in range(inner, inner + inners):
                i, k = _split_of(o, n, length)
                place, tile = firsts[i, k] + j, at + 2 * (n - inner)
                scores[place, 0], scores[place, 1] = bias[0] + sums[tile], bias[1] + sums[tile + 1]
            at += (inners + TILE - 1) // TILE * WIDTH


@part
def _unpack(grad, length, firsts, grads):
    """Put the gradients of the scores of one row into the order of the backward pass.

    Outer rows go in pairs; the second of an odd pair gets gradients of 0. Returns the sums over splits.
    """
    at, straight, inverted = 0, 0.0, 0.0
    for j in range(1, length):
        outer, outers, inner, inners = _sides(j, length)
        for o in range(outer, outer + outers, 2):
            for n in range(inner, inner + inners):
                for row in range(o, o + 2):
                    grads[2 * at] = grads[2 * at + 1] = 0
                    if row < outer + outers:
                        i, k = _split_of(row, n, length)
                        place = firsts[i, k] + j
                        grads[2 * at], grads[2 * at + 1] = grad[place, 0], grad[place, 1]
                        straight += grads[2 * at]
                        inverted += grads[2 * at + 1]
                    at += 1
    return straight, inverted


@kernel
def _backward(
    rows,
    start,
    split,
    end,
    shift,
    weight,
    lengths,
    L,
    H,
    row_keys,
    unit_keys,
    limit,
    grad_scores,
    d_start,
    d_middle,
    d_end,
    d_weight,
    d_bias,
):
    """Write the gradients of `_forward`; those of shift (B, H), weight (B, 2, H) and bias (B, 2) row by row.

    With active units marked a_h ∈ {0, 1}, all gradients follow from the sums of a_h·g over the splits of
    a left row, a right row and a split point, for g of each operation: four multiply-adds per unit.
    """
    zero, limits = fill(weight.dtype.type(0)), fill(limit)
    posts = np.zeros((2 * L + 4) * PAIR, weight.dtype)
    sums0, sums1 = np.zeros_like(posts), np.zeros_like(posts)
    splits0, splits1 = np.zeros_like(posts), np.zeros_like(posts)
    size = (L + 2) * (L + 1) * (L + 1) // 4
    grads = np.empty(2 * size, weight.dtype)
    firsts = _first_places(L)
    stride = 2 * L + 4
    keys = np.zeros(0 if row_keys is None else (L + 1) * stride, np.int32)
    for b in rows:
        length, base = lengths[b], b * (L + 1) * H
        right = length + 1
        d_bias[b, 0], d_bias[b, 1] = _unpack(grad_scores[b], length, firsts, grads)
        if row_keys is not None:
            _dropout_keys(row_keys, b, length, keys, stride)
        for h in range(0, H, PAIR):
            for p in range(length + 1):
                for half in range(0, PAIR, WIDTH):
                    here = base + p * H + h + half
                    store(posts, p * PAIR + half, _left(start, shift, here))
                    store(posts, (right + p) * PAIR + half, load(end, here))
            for p in range(0, (2 * length + 3) * PAIR, WIDTH):
                store(sums0, p, zero)
                store(sums1, p, zero)
            if row_keys is not None:
                a_units, b_units = load(unit_keys, h), load(unit_keys, h + WIDTH)
            at = 0
            for j in range(1, length):
                outer, outers, inner, inners = _sides(j, length)
                here = base + j * H + h
                a_middle = _middle(start, split, end, shift, here, h)
                b_middle = _middle(start, split, end, shift, here + WIDTH, h + WIDTH)
                a_split0, a_split1, b_split0, b_split1 = zero, zero, zero, zero
                for o in range(outer, outer + outers, 2):
                    x = o * PAIR
                    a_x0, b_x0 = a_middle + load(posts, x), b_middle + load(posts, x + WIDTH)
                    a_x1, b_x1 = a_middle + load(posts, x + PAIR), b_middle + load(posts, x + PAIR + WIDTH)
                    if row_keys is not None:
                        key0, key1 = spread(keys, j * stride + o), spread(keys, j * stride + o + 1)
                        a_e0, b_e0, a_e1, b_e1 = (
                            key0 * a_units,
                            key0 * b_units,
                            key1 * a_units,
                            key1 * b_units,
                        )
                    a_s00, a_s01, a_s10, a_s11 = zero, zero, zero, zero
                    b_s00, b_s01, b_s10, b_s11 = zero, zero, zero, zero
                    for row in range(inner, inner + inners):
                        n = row * PAIR
                        a_y, b_y = load(posts, n), load(posts, n + WIDTH)
                        a_p0, a_p1, b_p0, b_p1 = a_x0 + a_y, a_x1 + a_y, b_x0 + b_y, b_x1 + b_y
                        if row_keys is not None:
                            key = spread(keys, j * stride + row)
                            a_p0, a_p1 = keep(a_p0, a_e0 * key, limits), keep(a_p1, a_e1 * key, limits)
                            b_p0, b_p1 = keep(b_p0, b_e0 * key, limits), keep(b_p1, b_e1 * key, limits)
                        g0, g1 = spread(grads, 2 * at), spread(grads, 2 * at + 1)
                        on = step(a_p0)
                        a_s00, a_s01 = fma(on, g0, a_s00), fma(on, g1, a_s01)
                        a_t0, a_t1 = fma(on, g0, load(sums0, n)), fma(on, g1, load(sums1, n))
                        on = step(b_p0)
                        b_s00, b_s01 = fma(on, g0, b_s00), fma(on, g1, b_s01)
                        b_t0, b_t1 = fma(on, g0, load(sums0, n + WIDTH)), fma(on, g1, load(sums1, n + WIDTH))
                        g0, g1 = spread(grads, 2 * at + 2), spread(grads, 2 * at + 3)
                        on = step(a_p1)
                        a_s10, a_s11 = fma(on, g0, a_s10), fma(on, g1, a_s11)
                        store(sums0, n, fma(on, g0, a_t0))
                        store(sums1, n, fma(on, g1, a_t1))
                        on = step(b_p1)
                        b_s10, b_s11 = fma(on, g0, b_s10), fma(on, g1, b_s11)
                        store(sums0, n + WIDTH, fma(on, g0, b_t0))
                        store(sums1, n + WIDTH, fma(on, g1, b_t1))
                        at += 2
                    _add(sums0, x, a_s00, b_s00)
                    _add(sums1, x, a_s01, b_s01)
                    _add(sums0, x + PAIR, a_s10, b_s10)
                    _add(sums1, x + PAIR, a_s11, b_s11)
                    a_split0, a_split1 = a_split0 + (a_s00 + a_s10), a_split1 + (a_s01 + a_s11)
                    b_split0, b_split1 = b_split0 + (b_s00 + b_s10), b_split1 + (b_s01 + b_s11)
                store(splits0, j * PAIR, a_split0)
                store(splits0, j * PAIR + WIDTH, b_split0)
                store(splits1, j * PAIR, a_split1)
                store(splits1, j * PAIR + WIDTH, b_split1)
            for half in range(0, PAIR, WIDTH):
                unit = h + half
                v, w = load(weight, unit), load(weight, H + unit)
                dv, dw, d_shift = zero, zero, zero
                for j in range(1, length):
                    middle = _middle(start, split, end, shift, base + j * H + unit, unit)
                    dv = fma(load(splits0, j * PAIR + half), middle, dv)
                    dw = fma(load(splits1, j * PAIR + half), middle, dw)
                for p in range(length + 1):
                    left_at, right_at, here = p * PAIR + half, (right + p) * PAIR + half, base + p * H + unit
                    left0, left1 = load(sums0, left_at), load(sums1, left_at)
                    right0, right1 = load(sums0, right_at), load(sums1, right_at)
                    # Posts that start or end no split may hold anything, and 0·NaN is NaN.
                    x = load(posts, left_at) if p < length - 1 else zero
                    y = load(posts, right_at) if p > 1 else zero
                    dv = fma(left0, x, fma(right0, y, dv))
                    dw = fma(left1, x, fma(right1, y, dw))
                    at_start, at_end, at_split = fma(v, left0, w * left1), fma(v, right0, w * right1), zero
                    if 0 < p < length:
                        at_split = fma(v, load(splits0, left_at), w * load(splits1, left_at))
                    if shift is None:
                        store(d_middle, here, at_split)
                    else:
                        at_start, at_end = at_split - at_start, at_end - at_split
                        d_shift = d_shift + at_split
                    store(d_start, here, at_start)
                    store(d_end, here, at_end)
                if shift is not None:
                    store(d_middle, b * H + unit, d_shift)
                for p in range(length + 1, L + 1):
                    here = base + p * H + unit
                    store(d_start, here, zero)
                    store(d_end, here, zero)
                    if shift is None:
                        store(d_middle, here, zero)
                store(d_weight, b * 2 * H + unit, dv)
                store(d_weight, b * 2 * H + H + unit, dw)


@part
def _add(sums, at, first, second):
    store(sums, at, load(sums, at) + first)
    store(sums, at + WIDTH, load(sums, at + WIDTH) + second)
