"""Trees of separable permutations in numba: each row by itself, with hand-written backward passes.

The derivation is in README.md. Charts over spans are (length+1)² arrays of float64, whatever the dtype
of the scores; rule probabilities and blocks of the expected permutation have the dtype of the scores.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ftor.ops import splits
from ftor.ops.arrays import Array, as_array
from ftor.ops.check import check_range
from ftor.ops.simd import WIDTH, fill, fma, kernel, load, part, store, total
from ftor.ops.threads import run_rows

LONG, SKIPPED = 100, 1e-7
"""Without gradients, sequences that are longer skip unlikely splits, of so much probability in all. A float32
near 1 is no more exact."""

first_split = part(splits.first_split)


def inside(scores: Tensor, lengths: Tensor, L: int) -> tuple[Tensor, Tensor]:
    """Log partition (B,) and rule probabilities (B, S, 2) of `scores` (B, S, 2)."""
    log_partition, rules = scores.new_zeros(scores.shape[0]), torch.zeros_like(scores)
    _run(_inside, lengths, L, as_array(scores), log_partition.numpy(), rules.numpy())
    return log_partition, rules


def inside_backward(
    grad_log_partition: Tensor, grad_rules: Tensor, rules: Tensor, lengths: Tensor, L: int
) -> Tensor:
    """Gradient of `inside` for its scores (B, S, 2)."""
    grad = torch.zeros_like(rules)
    grads = as_array(grad_log_partition), as_array(grad_rules)
    _run(_inside_backward, lengths, L, *grads, as_array(rules), grad.numpy())
    return grad


def expected_permutation(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Expected permutation (B, L, L) of rule probabilities (B, S, 2)."""
    expected = rules.new_zeros(rules.shape[0], L, L)
    _run(_expected_permutation, lengths, L, as_array(rules), _least(rules, L), expected.numpy())
    return expected


def _least(rules: Tensor, L: int) -> float:
    """The probability up to which a split is skipped; −1 for none."""
    skips = L > LONG and rules.dtype == torch.float32 and not rules.requires_grad
    return SKIPPED / splits.number_of_splits(L) if skips else -1.0


def expected_permutation_backward(grad_expected: Tensor, rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Gradient of `expected_permutation` for its rules (B, S, 2)."""
    grad = torch.zeros_like(rules)
    _run(_expected_permutation_backward, lengths, L, as_array(grad_expected), as_array(rules), grad.numpy())
    return grad


def entropy(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Entropy (B,) of the tree distribution with rule probabilities (B, S, 2)."""
    result = rules.new_zeros(rules.shape[0])
    _run(_entropy, lengths, L, as_array(rules), result.numpy())
    return result


def entropy_backward(grad_entropy: Tensor, rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Gradient of `entropy` for its rules (B, S, 2)."""
    grad = torch.zeros_like(rules)
    _run(_entropy_backward, lengths, L, as_array(grad_entropy), as_array(rules), grad.numpy())
    return grad


def best_tree(scores: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Nodes (B, L−1, 4) of each row's tree of highest score, in preorder."""
    nodes = lengths.new_full((scores.shape[0], max(L - 1, 0), 4), -1)
    _run(_best_tree, lengths, L, as_array(scores), nodes.numpy())
    return nodes


def sample_tree(rules: Tensor, lengths: Tensor, uniforms: Tensor, L: int) -> Tensor:
    """Nodes (S, B, L−1, 4) of S trees per row, drawn by `uniforms` (S, B, L−1)."""
    nodes = lengths.new_full((*uniforms.shape[:2], max(L - 1, 0), 4), -1)
    _run(_sample_tree, lengths, L, as_array(rules), as_array(uniforms.double()), nodes.numpy())
    return nodes


def _run(row_kernel: Callable[..., None], lengths: Tensor, L: int, *args: Any) -> None:
    sizes: Array = as_array(lengths)
    check_range("lengths", lengths, 1, L)  # kernels would read and write past the ends of arrays
    run_rows(row_kernel, sizes**3 * 1e-9, sizes, L, *args)


@part
def _first(i, k, L):
    """Where the splits of span (i, k) begin in the packed layout; split point j is at + j − i − 1."""
    return first_split(k - i, L) + i * (k - i - 1)


@kernel
def _inside(rows, lengths, L, scores, log_partition, rules):
    exp_of = scores.dtype.type
    for b in rows:
        length = lengths[b]
        chart = np.zeros(
            (length + 1, length + 1)
        )  # log β(i, k) at [i, k] and, for reading along k, at [k, i]
        for width in range(2, length + 1):
            for i in range(length + 1 - width):
                k, first = i + width, _first(i, i + width, L)
                best = -np.inf
                for j in range(i + 1, k):
                    below, at = chart[i, j] + chart[k, j], first + j - i - 1
                    best = max(best, below + max(scores[b, at, 0], scores[b, at, 1]))
                mass = 0.0
                for j in range(i + 1, k):
                    below, at = chart[i, j] + chart[k, j] - best, first + j - i - 1
                    rules[b, at, 0] = math.exp(exp_of(below + scores[b, at, 0]))
                    rules[b, at, 1] = math.exp(exp_of(below + scores[b, at, 1]))
                    mass += rules[b, at, 0] + rules[b, at, 1]
                scale = exp_of(1 / mass)
                for at in range(first, first + width - 1):
                    rules[b, at, 0] *= scale
                    rules[b, at, 1] *= scale
                chart[i, k] = chart[k, i] = best + math.log(mass)
        log_partition[b] = chart[0, length]


@kernel
def _inside_backward(rows, lengths, L, grad_log_partition, grad_rules, all_rules, grad_scores):
    for b in rows:
        length, rules, grads = lengths[b], all_rules[b], grad_rules[b]
        chart = np.zeros((length + 1, length + 1))  # gradients of log β
        chart[0, length] = grad_log_partition[b]
        for width in range(length, 1, -1):
            for i in range(length + 1 - width):
                k, first = i + width, _first(i, i + width, L)
                mean = 0.0
                for at in range(first, first + width - 1):
                    mean += rules[at, 0] * grads[at, 0] + rules[at, 1] * grads[at, 1]
                incoming = chart[i, k] - mean
                for j in range(i + 1, k):
                    at = first + j - i - 1
                    straight = rules[at, 0] * (incoming + grads[at, 0])
                    inverted = rules[at, 1] * (incoming + grads[at, 1])
                    grad_scores[b, at, 0], grad_scores[b, at, 1] = straight, inverted
                    chart[i, j] += straight + inverted
                    chart[j, k] += straight + inverted


@part
def _place_blocks(rules, length, L, stride, least, blocks, by_end):
    """Fill blocks[(i, k), o] = P((i, k) is a constituent whose output starts at o), widest spans first.

    A child starts where its parent starts, or ends where its parent ends. So mass is passed down by start in
    `blocks` and by end in `by_end`, and the two are added when the turn of a span comes. Rows have `stride`
    offsets. Those past the last possible one are 0, so that loops can run in full vectors. Splits up to the
    probability `least` are skipped.
    """
    blocks[: (length + 1) * (length + 1) * stride] = 0
    by_end[: (length + 1) * (length + 1) * stride] = 0
    blocks[length * stride] = 1
    for width in range(length, 0, -1):
        offsets = length + 1 - width
        for i in range(offsets):
            k, first = i + width, _first(i, i + width, L)
            parent = (i * (length + 1) + k) * stride
            sums = fill(rules.dtype.type(0))
            for o in range(parent, parent + offsets, WIDTH):
                mass = load(blocks, o) + load(by_end, o + width)
                store(blocks, o, mass)
                sums = sums + mass
            chance = total(sums)
            for j in range(i + 1, k):
                at = first + j - i - 1
                if chance * (rules[at, 0] + rules[at, 1]) <= least:
                    continue
                straight, inverted = fill(rules[at, 0]), fill(rules[at, 1])
                left, right = (i * (length + 1) + j) * stride, (j * (length + 1) + k) * stride
                for o in range(0, offsets, WIDTH):
                    mass = load(blocks, parent + o)
                    store(blocks, left + o, fma(straight, mass, load(blocks, left + o)))
                    store(blocks, right + o, fma(inverted, mass, load(blocks, right + o)))
                    end = width + o
                    store(by_end, left + end, fma(inverted, mass, load(by_end, left + end)))
                    store(by_end, right + end, fma(straight, mass, load(by_end, right + end)))


@kernel
def _expected_permutation(rows, lengths, L, rules, least, expected):
    stride = L + 1 + WIDTH
    blocks = np.empty((L + 1) * (L + 1) * stride, rules.dtype)
    by_end = np.empty_like(blocks)
    for b in rows:
        length = lengths[b]
        _place_blocks(rules[b], length, L, stride, least, blocks, by_end)
        for i in range(length):
            leaf = (i * (length + 1) + i + 1) * stride
            for o in range(length):
                expected[b, i, o] = blocks[leaf + o]


@kernel
def _expected_permutation_backward(rows, lengths, L, grad_expected, all_rules, grad_rules):
    stride = L + 1 + WIDTH
    blocks = np.empty((L + 1) * (L + 1) * stride, all_rules.dtype)
    worths = np.empty_like(
        blocks
    )  # what a block that starts at o is worth; past the last offset, anything finite
    gains = np.empty(2 * L * WIDTH, all_rules.dtype)  # what each rule of a span is worth, in lanes
    zero = fill(all_rules.dtype.type(0))
    for b in rows:
        length, rules = lengths[b], all_rules[b]
        _place_blocks(rules, length, L, stride, -1.0, blocks, worths)
        worths[: (length + 1) * (length + 1) * stride] = 0
        for i in range(length):
            leaf = (i * (length + 1) + i + 1) * stride
            for o in range(length):
                worths[leaf + o] = grad_expected[b, i, o]
        for width in range(2, length + 1):
            offsets = length + 1 - width
            for i in range(offsets):
                k, first = i + width, _first(i, i + width, L)
                parent = (i * (length + 1) + k) * stride
                for at in range(0, 2 * width * WIDTH, WIDTH):
                    store(gains, at, zero)
                for o in range(0, offsets, WIDTH):
                    mass, worth, gain = load(blocks, parent + o), zero, 0
                    for j in range(i + 1, k):
                        left = (i * (length + 1) + j) * stride + o
                        right = (j * (length + 1) + k) * stride + o
                        straight = load(worths, left) + load(worths, right + j - i)
                        inverted = load(worths, right) + load(worths, left + k - j)
                        worth = fma(fill(rules[first + j - i - 1, 0]), straight, worth)
                        worth = fma(fill(rules[first + j - i - 1, 1]), inverted, worth)
                        store(gains, gain, fma(mass, straight, load(gains, gain)))
                        store(gains, gain + WIDTH, fma(mass, inverted, load(gains, gain + WIDTH)))
                        gain += 2 * WIDTH
                    store(worths, parent + o, worth)
                for split in range(width - 1):
                    grad_rules[b, first + split, 0] = total(load(gains, 2 * split * WIDTH))
                    grad_rules[b, first + split, 1] = total(load(gains, (2 * split + 1) * WIDTH))


@part
def _entropy_chart(rules, length, L):
    """Entropy of the subtrees of every span."""
    chart = np.zeros((length + 1, length + 1))
    tiny = np.finfo(rules.dtype).tiny
    for width in range(2, length + 1):
        for i in range(length + 1 - width):
            k, first = i + width, _first(i, i + width, L)
            for j in range(i + 1, k):
                straight, inverted = rules[first + j - i - 1, 0], rules[first + j - i - 1, 1]
                surprise = straight * math.log(max(straight, tiny)) + inverted * math.log(max(inverted, tiny))
                chart[i, k] += (straight + inverted) * (chart[i, j] + chart[j, k]) - surprise
    return chart


@kernel
def _entropy(rows, lengths, L, rules, entropies):
    for b in rows:
        entropies[b] = _entropy_chart(rules[b], lengths[b], L)[0, lengths[b]]


@part
def _surprise_slope(prob, tiny):
    """Derivative of −p·log max(p, tiny)."""
    return -math.log(prob) - 1 if prob > tiny else -math.log(tiny)


@kernel
def _entropy_backward(rows, lengths, L, grad_entropy, all_rules, grad_rules):
    tiny = np.finfo(all_rules.dtype).tiny
    for b in rows:
        length, rules = lengths[b], all_rules[b]
        entropies = _entropy_chart(rules, length, L)
        grads = np.zeros_like(entropies)
        grads[0, length] = grad_entropy[b]
        for width in range(length, 1, -1):
            for i in range(length + 1 - width):
                k, first = i + width, _first(i, i + width, L)
                for j in range(i + 1, k):
                    at = first + j - i - 1
                    below = entropies[i, j] + entropies[j, k]
                    for op in range(2):
                        grad_rules[b, at, op] = grads[i, k] * (_surprise_slope(rules[at, op], tiny) + below)
                    grads[i, j] += grads[i, k] * (rules[at, 0] + rules[at, 1])
                    grads[j, k] += grads[i, k] * (rules[at, 0] + rules[at, 1])


@part
def _best_choice(scores, chart, i, k, first):
    """Highest score of span (i, k) and where it comes from, as 2·(j − i − 1) + op."""
    best, choice = -np.inf, 0
    for j in range(i + 1, k):
        for op in range(2):
            score = scores[first + j - i - 1, op] + chart[i, j] + chart[j, k]
            if score > best:
                best, choice = score, 2 * (j - i - 1) + op
    return best, choice


@part
def _drawn_choice(rules, width, first, uniform):
    """The choice 2·(j − i − 1) + op at which the rules of a span add up to more than `uniform`."""
    mass = 0.0
    for at in range(first, first + width - 1):
        mass += rules[at, 0] + rules[at, 1]
    reached = 0.0
    for choice in range(2 * (width - 1)):
        reached += rules[first + choice // 2, choice % 2]
        if reached > uniform * mass:
            return choice
    return 2 * (width - 1) - 1


@part
def _grow(stack, height, node, i, k, choice, nodes):
    """Write a node, push its children that are no leaves, the left one last; return the stack's height."""
    j = i + 1 + choice // 2
    nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3] = i, j, k, choice % 2
    if k - j > 1:
        stack[height, 0], stack[height, 1] = j, k
        height += 1
    if j - i > 1:
        stack[height, 0], stack[height, 1] = i, j
        height += 1
    return height


@kernel
def _best_tree(rows, lengths, L, scores, nodes):
    stack = np.empty((L + 1, 2), np.int64)
    for b in rows:
        length = lengths[b]
        chart, choices = np.zeros((length + 1, length + 1)), np.zeros((length + 1, length + 1), np.int64)
        for width in range(2, length + 1):
            for i in range(length + 1 - width):
                k, first = i + width, _first(i, i + width, L)
                chart[i, k], choices[i, k] = _best_choice(scores[b], chart, i, k, first)
        stack[0, 0], stack[0, 1], height = 0, length, 1
        for node in range(length - 1):
            i, k = stack[height - 1]
            height = _grow(stack, height - 1, node, i, k, choices[i, k], nodes[b])


@kernel
def _sample_tree(rows, lengths, L, rules, uniforms, nodes):
    stack = np.empty((L + 1, 2), np.int64)
    for b in rows:
        for s in range(len(uniforms)):
            stack[0, 0], stack[0, 1], height = 0, lengths[b], 1
            for node in range(lengths[b] - 1):
                i, k = stack[height - 1]
                choice = _drawn_choice(rules[b], k - i, _first(i, k, L), uniforms[s, b, node])
                height = _grow(stack, height - 1, node, i, k, choice, nodes[s, b])
