"""The highway LSTM in numba: each task runs one direction of a few rows, for all steps.

The derivation is in README.md. Rows are sorted by length, longest first. Both directions count steps from the
row's own beginning or end, so the rows that are still running are always the first ones. Arrays are flat. A
row of H or 5H numbers is processed in vectors. The last vector ends where the row ends and may compute some
units twice, so no pass may read what it has written. H is at least `WIDTH`.
"""

import numpy as np
import torch
from torch import Tensor

from ftor.ops.arrays import Array, as_array
from ftor.ops.simd import WIDTH, fma, kernel, like, load, part, shared_part, sigmoid, spread, store, tanh
from ftor.ops.threads import run_rows

TILE = 4  # rows per step of the matrix product; with 3 vectors of columns it fills the 16 registers of AVX2
ROWS = 16  # rows per task: enough to read the weights from a distant cache rarely


def highway_lstm(
    projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Hidden states (B, n, K, H); and for the backward pass i, f, g, o, r, c and highway, (B, n, K, 7H)."""
    B, n, K, _ = projected.shape
    H = weight.shape[-1]
    states, saved = projected.new_empty(B, n, K, H), projected.new_empty(B, n, K, 7 * H)
    sizes = as_array(lengths)
    order, seconds = _tasks(sizes, K, H)
    panels = _panels(weight, K, 5 * H, transposed=True)
    inputs = _flat(projected), panels, _flat(bias), _factors(keep, states)
    run_rows(_forward, seconds, order, sizes, (B, n, K, H), *inputs, _flat(states), _flat(saved))
    return states, saved


def highway_lstm_backward(
    grad: Tensor, weight: Tensor, lengths: Tensor, keep: Tensor | None, states: Tensor, saved: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `highway_lstm` for projected, weight and bias."""
    B, n, K, H = states.shape
    d_projected, fed_back = states.new_empty(B, n, K, 6 * H), torch.empty_like(states)
    sizes = as_array(lengths)
    order, seconds = _tasks(sizes, K, H)
    panels = _panels(weight, 5 * K, H, transposed=False)
    inputs = _flat(grad), panels, _factors(keep, states), _flat(states), _flat(saved)
    run_rows(_backward, seconds, order, sizes, (B, n, K, H), *inputs, _flat(d_projected), _flat(fed_back))
    d_gates = d_projected.view(B * n, K, 6 * H).transpose(0, 1)[..., : 5 * H]
    return d_projected, d_gates.mT @ fed_back.view(B * n, K, H).transpose(0, 1), d_gates.sum(1)


def _flat(tensor: Tensor) -> Array:
    return as_array(tensor).reshape(-1)


def _factors(keep: Tensor | None, states: Tensor) -> Array:
    """The factors (B, K, H) of h_{t−1}; all 1 if there is no `keep`."""
    return _flat(torch.ones_like(states[:, 0]) if keep is None else keep)


def _panels(weight: Tensor, matrices: int, columns: int, transposed: bool) -> Array:
    """The weights in the layout of `_add_product`: `matrices` matrices of H rows and `columns` columns."""
    flat, H = _flat(weight), weight.shape[-1]
    packed = np.empty(matrices * H * _vectors(columns) * WIDTH, flat.dtype)
    (_pack_transposed if transposed else _pack)(flat, matrices, H, columns, packed)
    return packed


def _tasks(lengths: Array, K: int, H: int) -> tuple[Array, Array]:
    """Rows in order of length, the longest first; and about how many seconds each task takes.

    Task k·blocks + block runs direction k of one block of `ROWS` rows.
    """
    tasks = (len(lengths) + ROWS - 1) // ROWS * K
    steps = lengths.sum() * K / max(tasks, 1)
    return np.argsort(-lengths), np.full(tasks, steps * H * (5 * H + 100) * 4e-11)


@kernel
def _vectors(columns):
    """The number of vectors for `columns` columns, at least the 2 of a narrow panel."""
    return max(2, (columns + WIDTH - 1) // WIDTH)


@part
def _panel_width(vectors):
    """The number of vectors in the next panel if `vectors` are left: 3, or 2 if 3 would leave one."""
    return 2 if vectors == 2 or vectors == 4 else 3


@kernel
def _pack(weight, matrices, X, columns, packed):
    """Cut matrices (X, columns) into panels of 2 or 3 vectors of columns, each contiguous in memory."""
    at, vectors = 0, _vectors(columns)
    full = columns // WIDTH
    for matrix in range(matrices):
        first = 0
        while first < vectors:
            width = _panel_width(vectors - first)
            for x in range(X):
                row = (matrix * X + x) * columns
                for vector in range(first, first + width):
                    if vector < full:
                        store(packed, at, load(weight, row + vector * WIDTH))
                    else:
                        for lane in range(WIDTH):
                            column = vector * WIDTH + lane
                            packed[at + lane] = weight[row + column] if column < columns else 0
                    at += WIDTH
            first += width


@kernel
def _pack_transposed(weight, matrices, X, columns, packed):
    """The same from matrices (columns, X)."""
    at, vectors = 0, _vectors(columns)
    for matrix in range(matrices):
        first = 0
        while first < vectors:
            width = _panel_width(vectors - first) * WIDTH
            for lane in range(width):
                column = first * WIDTH + lane
                for x in range(X):
                    value = weight[(matrix * columns + column) * X + x] if column < columns else 0
                    packed[at + x * width + lane] = value
            at += X * width
            first += width // WIDTH


@shared_part
def _add_product(left, left_at, left_stride, rows, X, panels, at, vectors, out, out_stride):
    """Add left (rows, X) · matrix (X, columns) to `out`; rows are rounded up to full tiles."""
    first = 0
    while first < vectors:
        width = _panel_width(vectors - first)
        for row in range(0, rows, TILE):
            x, y = left_at + row * left_stride, row * out_stride + first * WIDTH
            if width == 3:
                _add_wide_tile(left, x, left_stride, X, panels, at, out, y, out_stride)
            else:
                _add_narrow_tile(left, x, left_stride, X, panels, at, out, y, out_stride)
        at += X * width * WIDTH
        first += width


@part
def _add_wide_tile(left, x0, stride, X, panels, p, out, y0, out_stride):
    """Four rows times three vectors of columns, on sums that stay in registers."""
    x1, x2, x3 = x0 + stride, x0 + 2 * stride, x0 + 3 * stride
    y1, y2, y3 = y0 + out_stride, y0 + 2 * out_stride, y0 + 3 * out_stride
    a0, a1, a2 = load(out, y0), load(out, y0 + WIDTH), load(out, y0 + 2 * WIDTH)
    b0, b1, b2 = load(out, y1), load(out, y1 + WIDTH), load(out, y1 + 2 * WIDTH)
    c0, c1, c2 = load(out, y2), load(out, y2 + WIDTH), load(out, y2 + 2 * WIDTH)
    d0, d1, d2 = load(out, y3), load(out, y3 + WIDTH), load(out, y3 + 2 * WIDTH)
    for x in range(X):
        w0, w1, w2 = load(panels, p), load(panels, p + WIDTH), load(panels, p + 2 * WIDTH)
        h = spread(left, x0 + x)
        a0, a1, a2 = fma(h, w0, a0), fma(h, w1, a1), fma(h, w2, a2)
        h = spread(left, x1 + x)
        b0, b1, b2 = fma(h, w0, b0), fma(h, w1, b1), fma(h, w2, b2)
        h = spread(left, x2 + x)
        c0, c1, c2 = fma(h, w0, c0), fma(h, w1, c1), fma(h, w2, c2)
        h = spread(left, x3 + x)
        d0, d1, d2 = fma(h, w0, d0), fma(h, w1, d1), fma(h, w2, d2)
        p += 3 * WIDTH
    _put3(out, y0, a0, a1, a2)
    _put3(out, y1, b0, b1, b2)
    _put3(out, y2, c0, c1, c2)
    _put3(out, y3, d0, d1, d2)


@part
def _put3(out, at, first, second, third):
    store(out, at, first)
    store(out, at + WIDTH, second)
    store(out, at + 2 * WIDTH, third)


@part
def _add_narrow_tile(left, x0, stride, X, panels, p, out, y0, out_stride):
    """Four rows times two vectors of columns."""
    x1, x2, x3 = x0 + stride, x0 + 2 * stride, x0 + 3 * stride
    y1, y2, y3 = y0 + out_stride, y0 + 2 * out_stride, y0 + 3 * out_stride
    a0, a1, b0, b1 = load(out, y0), load(out, y0 + WIDTH), load(out, y1), load(out, y1 + WIDTH)
    c0, c1, d0, d1 = load(out, y2), load(out, y2 + WIDTH), load(out, y3), load(out, y3 + WIDTH)
    for x in range(X):
        w0, w1 = load(panels, p), load(panels, p + WIDTH)
        h = spread(left, x0 + x)
        a0, a1 = fma(h, w0, a0), fma(h, w1, a1)
        h = spread(left, x1 + x)
        b0, b1 = fma(h, w0, b0), fma(h, w1, b1)
        h = spread(left, x2 + x)
        c0, c1 = fma(h, w0, c0), fma(h, w1, c1)
        h = spread(left, x3 + x)
        d0, d1 = fma(h, w0, d0), fma(h, w1, d1)
        p += 2 * WIDTH
    store(out, y0, a0)
    store(out, y0 + WIDTH, a1)
    store(out, y1, b0)
    store(out, y1 + WIDTH, b1)
    store(out, y2, c0)
    store(out, y2 + WIDTH, c1)
    store(out, y3, d0)
    store(out, y3 + WIDTH, d1)


@kernel
def _forward(tasks, order, lengths, shape, projected, panels, bias, keep, states, saved):
    """Write the hidden states, and what the backward pass needs."""
    B, n, K, H = shape
    blocks, G = (B + ROWS - 1) // ROWS, 5 * H
    vectors = _vectors(G)
    stride = vectors * WIDTH
    gates = np.zeros(ROWS * stride, projected.dtype)
    fed_back = np.zeros(ROWS * H, projected.dtype)
    for task in tasks:
        k, first = task // blocks, task % blocks * ROWS
        running = min(ROWS, B - first)
        for row in range(running):
            b = order[first + row]
            for t in range(lengths[b], n):
                here = ((b * n + t) * K + k) * H
                states[here : here + H] = 0
        for step in range(lengths[order[first]]):
            while lengths[order[first + running - 1]] <= step:
                running -= 1
            for row in range(running):
                here, _ = _places(order[first + row], step, k, n, K, lengths)
                for unit in range(0, G, WIDTH):
                    u = min(unit, G - WIDTH)
                    x = load(projected, here * 6 * H + u) + load(bias, k * G + u)
                    store(gates, row * stride + u, x)
            if step > 0:
                _add_product(fed_back, 0, H, running, H, panels, k * H * stride, vectors, gates, stride)
            for row in range(running):
                b = order[first + row]
                here, before = _places(b, step, k, n, K, lengths)
                a, s, x = row * stride, here * 7 * H, here * 6 * H + G
                # Gates by themselves first: hundreds of independent instructions keep the processor busy.
                for unit in range(0, 2 * H, WIDTH):
                    u = min(unit, 2 * H - WIDTH)
                    store(saved, s + u, sigmoid(load(gates, a + u)))
                for unit in range(0, H, WIDTH):
                    u = 2 * H + min(unit, H - WIDTH)
                    store(saved, s + u, tanh(load(gates, a + u)))
                for unit in range(0, 2 * H, WIDTH):
                    u = 3 * H + min(unit, 2 * H - WIDTH)
                    store(saved, s + u, sigmoid(load(gates, a + u)))
                for unit in range(0, H, WIDTH):
                    u = min(unit, H - WIDTH)
                    c = load(saved, s + u) * load(saved, s + 2 * H + u)
                    if step > 0:
                        c = fma(load(saved, s + H + u), load(saved, before * 7 * H + G + u), c)
                    o, r, highway = (
                        load(saved, s + 3 * H + u),
                        load(saved, s + 4 * H + u),
                        load(projected, x + u),
                    )
                    h = fma(r, o * tanh(c), (like(r, 1.0) - r) * highway)
                    store(saved, s + G + u, c)
                    store(saved, s + G + H + u, highway)
                    store(states, here * H + u, h)
                    store(fed_back, row * H + u, h * load(keep, (b * K + k) * H + u))


@part
def _places(b, step, k, n, K, lengths):
    """Where the vectors of one row, step and direction lie, and those of the step before."""
    if k % 2:
        here = (b * n + lengths[b] - 1 - step) * K + k
        return here, here + K
    here = (b * n + step) * K + k
    return here, here - K


@kernel
def _backward(tasks, order, lengths, shape, grad, panels, keep, states, saved, d_projected, fed_back):
    """Write the gradient of `projected`, and keep·h_{t−1} for that of the weights."""
    B, n, K, H = shape
    blocks, G = (B + ROWS - 1) // ROWS, 5 * H
    vectors = _vectors(H)
    stride, size = vectors * WIDTH, ROWS * H
    d_gates = np.empty(ROWS * G, grad.dtype)
    d_hidden = np.empty(ROWS * stride, grad.dtype)
    d_cell = np.empty(2 * size, grad.dtype)  # before and after each step
    for task in tasks:
        k, first = task // blocks, task % blocks * ROWS
        count = min(ROWS, B - first)
        # Rows that start, and rows that only fill up a tile, have to read zeros.
        d_gates[:] = 0
        d_hidden[:] = 0
        d_cell[:] = 0
        for row in range(count):
            b = order[first + row]
            for t in range(lengths[b], n):
                here = (b * n + t) * K + k
                d_projected[here * 6 * H : (here + 1) * 6 * H] = 0
                fed_back[here * H : (here + 1) * H] = 0
        running = 0
        for step in range(lengths[order[first]] - 1, -1, -1):
            while running < count and lengths[order[first + running]] > step:
                running += 1
            old, new = step % 2 * size, (1 - step % 2) * size
            for row in range(running):
                b = order[first + row]
                here, before = _places(b, step, k, n, K, lengths)
                a, s, x = row * G, here * 7 * H, here * 6 * H
                for unit in range(0, H, WIDTH):
                    u = min(unit, H - WIDTH)
                    i, f, g = load(saved, s + u), load(saved, s + H + u), load(saved, s + 2 * H + u)
                    o, r, c = load(saved, s + 3 * H + u), load(saved, s + 4 * H + u), load(saved, s + G + u)
                    highway, kept = load(saved, s + G + H + u), load(keep, (b * K + k) * H + u)
                    one, zero = like(i, 1.0), like(i, 0.0)
                    dh = fma(kept, load(d_hidden, row * stride + u), load(grad, here * H + u))
                    squashed = tanh(c)
                    dr = dh * (o * squashed - highway) * (r * (one - r))
                    d_lstm = dh * r
                    do = d_lstm * squashed * (o * (one - o))
                    dc = fma(d_lstm * o, one - squashed * squashed, load(d_cell, old + row * H + u))
                    di, dg = dc * g * (i * (one - i)), dc * i * (one - g * g)
                    df, fed = zero, zero
                    if step > 0:
                        df = dc * load(saved, before * 7 * H + G + u) * (f * (one - f))
                        fed = kept * load(states, before * H + u)
                    store(d_cell, new + row * H + u, dc * f)
                    store(fed_back, here * H + u, fed)
                    _put_gates(d_gates, a + u, H, di, df, dg, do, dr)
                    _put_gates(d_projected, x + u, H, di, df, dg, do, dr)
                    store(d_projected, x + G + u, dh - d_lstm)
            if step > 0:
                d_hidden[:] = 0
                for gate in range(5):
                    at = (k * 5 + gate) * H * stride
                    _add_product(d_gates, gate * H, G, running, H, panels, at, vectors, d_hidden, stride)


@part
def _put_gates(out, at, H, i, f, g, o, r):
    store(out, at, i)
    store(out, at + H, f)
    store(out, at + 2 * H, g)
    store(out, at + 3 * H, o)
    store(out, at + 4 * H, r)
