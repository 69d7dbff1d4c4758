"""Fertility in numba: each row of the batch by itself, in float64, over the prefix sums it can reach.

The derivation is in README.md. Here `i` counts tokens from 0, `start` and `end` are the prefix sums
before and after token i, and `posterior[i, r, end]` = P(f_i = r | f_0 + … + f_i = end). The innermost
loops run over slices of neighbouring prefix sums, so that they become vector instructions. No sum is
reordered for this, so the result of a row does not depend on its batch, to the last bit.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor

from ftor.ops.arrays import Array, as_array
from ftor.ops.dispatch import IMPOSSIBLE, LOG_ZERO
from ftor.ops.fertility.naive import longest
from ftor.ops.simd import kernel, part, shared_part
from ftor.ops.threads import run_rows

SMALLEST = 1e-300
"""Products of probabilities that stay above this have all their digits in float64."""

SAFE_PROBABILITY = 1e-150
"""What float64 rounds to 0 changes no digit of a sum above this."""


def length_log_probs(log_p: Tensor, first: Tensor, count: int) -> Tensor:
    """The log P(f_1 + … + f_n = l) for `count` lengths from `first` on: (B, n, d+1), (B,) → (B, count)."""
    out = log_p.new_full((log_p.shape[0], count), LOG_ZERO)
    lows, highest = as_array(first), longest(log_p, first + (count - 1))
    _run(_length_log_probs, log_p, lows + count, as_array(log_p), lows, highest, out.numpy())
    return out


def length_log_probs_backward(grad: Tensor, log_p: Tensor, first: Tensor) -> Tensor:
    """The gradient for log_p (B, n, d+1) from that of the lengths (B, count)."""
    out = log_p.new_zeros(log_p.shape)
    count = grad.shape[1]
    lows, highest = as_array(first), longest(log_p, first + (count - 1))
    arrays = as_array(grad), as_array(log_p), lows, highest, out.numpy()
    _run(_length_log_probs_backward, log_p, lows + count, *arrays)
    return out


def marginals(log_p: Tensor, lengths: Tensor, max_length: int) -> Tensor:
    """F̃ given the length of each row: (B, n, d+1), (B,) → (B, n, max_length, d)."""
    batch, n, width = log_p.shape
    out = log_p.new_zeros((batch, n, max_length, width - 1))
    targets = as_array(lengths)
    _run(_marginals, log_p, targets, as_array(log_p), targets, out.numpy())
    return out


def marginals_backward(grad: Tensor, log_p: Tensor, lengths: Tensor) -> Tensor:
    """The gradient for log_p (B, n, d+1) from that of F̃ (B, n, max_length, d)."""
    out = log_p.new_zeros(log_p.shape)
    targets = as_array(lengths)
    _run(_marginals_backward, log_p, targets, as_array(grad), as_array(log_p), targets, out.numpy())
    return out


def argmax(log_p: Tensor, lengths: Tensor) -> Tensor:
    """The most likely fertilities given the length of each row: (B, n, d+1), (B,) → (B, n)."""
    out = lengths.new_zeros(log_p.shape[:2])
    targets = as_array(lengths)
    _run(_argmax, log_p, targets, as_array(log_p), targets, longest(log_p, lengths), out.numpy())
    return out


def sample(log_p: Tensor, lengths: Tensor, uniforms: Tensor) -> Tensor:
    """Fertilities given the length of each row, by inverse CDF: (B, n, d+1), (B,), (S, B, n) → (S, B, n)."""
    out = lengths.new_zeros(uniforms.shape)
    targets = as_array(lengths)
    draws = as_array(uniforms.double())
    _run(_sample, log_p, targets, as_array(log_p), targets, longest(log_p, lengths), draws, out.numpy())
    return out


def _run(row_kernel: Callable[..., None], log_p: Tensor, targets: Array, *args: Any) -> None:
    cells = (targets + 1.0) * (log_p.shape[1] * log_p.shape[2])
    run_rows(row_kernel, cells * 1e-9, *args)


@part
def _reachable(tokens: int, n: int, d: int, low: int, high: int) -> tuple[int, int]:
    """The prefix sums of `tokens` tokens on the way to a length low..high, as (first, one past the last)."""
    return max(0, low - (n - tokens) * d), min(high, tokens * d) + 1


@part
def _ends(r: int, before: tuple[int, int], after: tuple[int, int]) -> tuple[int, int]:
    """The part of the prefix sums `after` a token that fertility r leads to from those `before` it."""
    begin = max(before[0] + r, after[0])
    return begin, max(begin, min(before[1] + r, after[1]))


@shared_part
def _forward(log_p: Array, low: int, high: int, log_sums: Array, posterior: Array) -> None:
    """Fill log_sums[l] = log P(f_0 + … = l) for the reachable l in low..high, and `posterior` on the way."""
    n, width = log_p.shape
    p = np.empty((n, width))
    log_scale, least_likely = _normalise(log_p, p)
    safe = least_likely > math.log(SMALLEST)
    if safe or low == high:
        _forward_linear(p, low, high, log_sums, posterior)
        safe = safe or log_sums[low] > SAFE_PROBABILITY
    if not safe:
        _forward_log(log_p, low, high, log_sums, posterior)
        return
    first, stop = _reachable(n, n, width - 1, low, high)
    for end in range(first, stop):
        log_sums[end] = math.log(log_sums[end]) + log_scale if log_sums[end] > 0.0 else LOG_ZERO


@part
def _normalise(log_p: Array, p: Array) -> tuple[float, float]:
    """Fill p with exp(log_p), scaled to sum 1 in each token.

    Returns the logarithm of the scale, and that of the smallest probability of any possible fertilities.
    """
    n, width = log_p.shape
    log_scale, least_likely = 0.0, 0.0
    for i in range(n):
        largest, smallest, total = LOG_ZERO, 0.0, 0.0
        for r in range(width):
            largest = max(largest, log_p[i, r])
        for r in range(width):
            p[i, r] = 0.0
            if log_p[i, r] > IMPOSSIBLE:
                p[i, r] = math.exp(log_p[i, r] - largest)
                total += p[i, r]
                smallest = min(smallest, log_p[i, r] - largest)
        if total > 0.0:
            for r in range(width):
                p[i, r] /= total
            log_scale += largest + math.log(total)
            least_likely += smallest - math.log(total)
    return log_scale, least_likely


@part
def _forward_linear(p: Array, low: int, high: int, sums: Array, posterior: Array) -> None:
    n, width = p.shape
    totals = np.empty(high + 1)
    before = (0, 1)
    sums[0] = 1.0
    for i in range(n):
        after = _reachable(i + 1, n, width - 1, low, high)
        totals[after[0] : after[1]] = 0.0
        for r in range(width):
            begin, stop = _ends(r, before, after)
            source, total, joint = sums[begin - r :], totals[begin:stop], posterior[i, r, begin:stop]
            for k in range(len(total)):
                joint[k] = source[k] * p[i, r]
                total[k] += joint[k]
        for end in range(after[0], after[1]):
            sums[end] = totals[end]
            if totals[end] == 0.0:
                totals[end] = math.inf  # to divide by
        for r in range(width):
            begin, stop = _ends(r, before, after)
            total, joint = totals[begin:stop], posterior[i, r, begin:stop]
            for k in range(len(total)):
                joint[k] /= total[k]  # not times its inverse: padding tokens need x / x = 1 exactly
        before = after


@part
def _forward_log(log_p: Array, low: int, high: int, log_sums: Array, posterior: Array) -> None:
    n, width = log_p.shape
    before = (0, 1)
    log_sums[0] = 0.0
    for i in range(n):
        after = _reachable(i + 1, n, width - 1, low, high)
        # Downwards, so that log_sums still holds the sums before this token where it is read.
        for end in range(after[1] - 1, after[0] - 1, -1):
            r_first, r_stop = max(0, end + 1 - before[1]), min(width, end + 1 - before[0])
            best = LOG_ZERO
            for r in range(r_first, r_stop):
                best = max(best, log_sums[end - r] + log_p[i, r])
            if best <= IMPOSSIBLE:
                log_sums[end] = LOG_ZERO
                for r in range(r_first, r_stop):
                    posterior[i, r, end] = 0.0
                continue
            total = 0.0
            for r in range(r_first, r_stop):
                ratio = math.exp(log_sums[end - r] + log_p[i, r] - best)
                posterior[i, r, end] = ratio
                total += ratio
            for r in range(r_first, r_stop):
                posterior[i, r, end] /= total
            log_sums[end] = best + math.log(total)
        before = after


@kernel
def _length_log_probs(rows: Array, log_p: Array, lows: Array, highest: int, out: Array) -> None:
    n, width = log_p.shape[1:]
    log_sums, posterior = np.empty(highest + 1), np.empty((n, width, highest + 1))
    for b in rows:
        low, high = lows[b], min(lows[b] + out.shape[1] - 1, highest)
        if 0 <= low <= high:
            _forward(log_p[b], low, high, log_sums, posterior)
            for length in range(low, high + 1):
                out[b, length - low] = log_sums[length]


@kernel
def _length_log_probs_backward(
    rows: Array, grad: Array, log_p: Array, lows: Array, highest: int, out: Array
) -> None:
    n, width = log_p.shape[1:]
    log_sums, posterior = np.empty(highest + 1), np.empty((n, width, highest + 1))
    adjoint, adjoint_before = np.empty(highest + 1), np.empty(highest + 1)
    for b in rows:
        low, high = lows[b], min(lows[b] + grad.shape[1] - 1, highest)
        if low < 0 or low > high:
            continue
        _forward(log_p[b], low, high, log_sums, posterior)
        after = (low, high + 1)
        for length in range(low, high + 1):
            adjoint[length] = grad[b, length - low]
        for i in range(n - 1, -1, -1):
            before = _reachable(i, n, width - 1, low, high)
            adjoint_before[before[0] : before[1]] = 0.0
            for r in range(width):
                begin, stop = _ends(r, before, after)
                chance, given = posterior[i, r, begin:stop], adjoint[begin:stop]
                passed = adjoint_before[begin - r :]
                gradient = 0.0
                for k in range(len(chance)):
                    flow = chance[k] * given[k]
                    passed[k] += flow
                    gradient += flow
                out[b, i, r] = gradient
            adjoint, adjoint_before = adjoint_before, adjoint
            after = before


@part
def _is_possible(log_p: Array, length: int, high: int, log_sums: Array, posterior: Array) -> bool:
    """Run `_forward` for one length. Returns whether that length is possible."""
    n, width = log_p.shape
    if length < 0 or length > min(high, n * (width - 1)):
        return False
    _forward(log_p, length, length, log_sums, posterior)
    return bool(log_sums[length] > IMPOSSIBLE)


@kernel
def _marginals(rows: Array, log_p: Array, lengths: Array, out: Array) -> None:
    n, width = log_p.shape[1:]
    d, high = width - 1, out.shape[2]
    log_sums, posterior = np.empty(high + 1), np.empty((n, width, high + 1))
    mass, at_least = np.empty(high + 1), np.empty(high + 1)
    for b in rows:
        length = lengths[b]
        if not _is_possible(log_p[b], length, high, log_sums, posterior):
            continue
        after = (length, length + 1)
        mass[length] = 1.0  # P(prefix sum = end | length)
        for i in range(n - 1, -1, -1):
            before = _reachable(i, n, d, length, length)
            at_least[before[0] : before[1]] = 0.0  # P(prefix sum = start, then f_i ≥ r | length)
            for r in range(d, -1, -1):
                begin, stop = _ends(r, before, after)
                chance, given, total = posterior[i, r, begin:stop], mass[begin:stop], at_least[begin - r :]
                for k in range(len(chance)):
                    total[k] += given[k] * chance[k]
                if r > 0:
                    for start in range(before[0], min(before[1], after[1] - r)):
                        out[b, i, start + r - 1, r - 1] = at_least[start]
            mass, at_least = at_least, mass
            after = before


@part
def _add_copy(value: Array, grad: Array, r: int, before: tuple[int, int], after: tuple[int, int]) -> None:
    """Add to value[start] what the r-th copy of a token after prefix sum `start` is worth."""
    if r > 0:
        for start in range(before[0], min(before[1], after[1] - r)):
            value[start] += grad[start + r - 1, r - 1]


@part
def _prefix_values(grad: Array, length: int, posterior: Array, values: Array, value: Array) -> None:
    """Fill values[i, end] = E[what tokens 0..i-1 contribute to Σ grad·F | their fertilities sum to end]."""
    n, width = posterior.shape[:2]
    before = (0, 1)
    values[0, 0] = 0.0
    for i in range(n):
        after = _reachable(i + 1, n, width - 1, length, length)
        values[i + 1, after[0] : after[1]] = 0.0
        for start in range(before[0], before[1]):
            value[start] = values[i, start]
        for r in range(width):
            _add_copy(value, grad[i], r, before, after)
            begin, stop = _ends(r, before, after)
            chance, worth, total = posterior[i, r, begin:stop], value[begin - r :], values[i + 1, begin:stop]
            for k in range(len(chance)):
                total[k] += chance[k] * worth[k]
        before = after


@kernel
def _marginals_backward(rows: Array, grad: Array, log_p: Array, lengths: Array, out: Array) -> None:
    n, width = log_p.shape[1:]
    d, high = width - 1, grad.shape[2]
    log_sums, posterior = np.empty(high + 1), np.empty((n, width, high + 1))
    prefix_values, value = np.empty((n + 1, high + 1)), np.empty(high + 1)
    mass, mass_before = np.empty(high + 1), np.empty(high + 1)
    suffix, suffix_before = np.empty(high + 1), np.empty(high + 1)  # mass · E[contribution of later tokens]
    for b in rows:
        length = lengths[b]
        if not _is_possible(log_p[b], length, high, log_sums, posterior):
            continue
        _prefix_values(grad[b], length, posterior, prefix_values, value)
        expected = prefix_values[n, length]
        after = (length, length + 1)
        mass[length], suffix[length] = 1.0, 0.0
        for i in range(n - 1, -1, -1):
            before = _reachable(i, n, d, length, length)
            value[before[0] : before[1]] = 0.0
            mass_before[before[0] : before[1]] = 0.0
            suffix_before[before[0] : before[1]] = 0.0
            for r in range(width):
                _add_copy(value, grad[b, i], r, before, after)
                begin, stop = _ends(r, before, after)
                chance, given, later = posterior[i, r, begin:stop], mass[begin:stop], suffix[begin:stop]
                here, earlier = value[begin - r :], prefix_values[i, begin - r :]
                mass_here, suffix_here = mass_before[begin - r :], suffix_before[begin - r :]
                gradient = 0.0
                for k in range(len(chance)):
                    flow = chance[k] * given[k]
                    worth = chance[k] * later[k] + flow * here[k]
                    mass_here[k] += flow
                    suffix_here[k] += worth
                    gradient += worth + flow * (earlier[k] - expected)
                out[b, i, r] = gradient
            mass, mass_before = mass_before, mass
            suffix, suffix_before = suffix_before, suffix
            after = before


@kernel
def _argmax(rows: Array, log_p: Array, lengths: Array, high: int, out: Array) -> None:
    n, width = log_p.shape[1:]
    best_sums, choice = np.empty(high + 1), np.empty((n, high + 1), dtype=np.int64)
    for b in rows:
        length = lengths[b]
        if length < 0 or length > high:
            continue
        before = (0, 1)
        best_sums[0] = 0.0
        for i in range(n):
            after = _reachable(i + 1, n, width - 1, length, length)
            # Downwards, so that best_sums still holds the sums before this token where it is read.
            for end in range(after[1] - 1, after[0] - 1, -1):
                best, best_r = -math.inf, 0
                for r in range(max(0, end + 1 - before[1]), min(width, end + 1 - before[0])):
                    candidate = best_sums[end - r] + log_p[b, i, r]
                    if candidate > best:
                        best, best_r = candidate, r
                best_sums[end], choice[i, end] = best, best_r
            before = after
        if best_sums[length] > IMPOSSIBLE:
            end = length
            for i in range(n - 1, -1, -1):
                out[b, i] = choice[i, end]
                end -= choice[i, end]


@kernel
def _sample(rows: Array, log_p: Array, lengths: Array, high: int, uniforms: Array, out: Array) -> None:
    n, width = log_p.shape[1:]
    log_sums, posterior = np.empty(high + 1), np.empty((n, width, high + 1))
    for b in rows:
        length = lengths[b]
        if not _is_possible(log_p[b], length, high, log_sums, posterior):
            continue
        for s in range(len(uniforms)):
            end = length
            for i in range(n - 1, -1, -1):
                before = _reachable(i, n, width - 1, length, length)
                r_first, r_stop = max(0, end + 1 - before[1]), min(width, end + 1 - before[0])
                fertility = r_first + _inverse_cdf(posterior[i, r_first:r_stop, end], uniforms[s, b, i])
                out[s, b, i] = fertility
                end -= fertility


@part
def _inverse_cdf(p: Array, uniform: float) -> int:
    """The first index whose cumulative probability passes the uniform; never one of probability 0."""
    total = 0.0
    for r in range(len(p)):
        total += p[r]
    cumulative, last = 0.0, 0
    for r in range(len(p)):
        if p[r] > 0.0:
            last = r
            cumulative += p[r]
            if cumulative > uniform * total:
                break
    return last
