"""Distributions over trees of separable permutations, from packed split scores (B, S, 2).

Op 0 is straight (∧), 1 inverted (△); `ftor.ops.splits` says how the splits are packed. Leaves score 0.
A permutation that several trees produce is counted once per tree.
"""

from typing import Any

import torch
from torch import Tensor

from ftor.ops.check import check_device, check_floating, check_lengths, check_shape
from ftor.ops.dispatch import refuse_second_backward, runs_on_kernels
from ftor.ops.operator import operator
from ftor.ops.permutation import naive
from ftor.ops.splits import number_of_splits, split_table

__all__ = ["best_tree", "entropy", "expected_permutation", "inside", "sample_tree", "split_table"]


def inside(scores: Tensor, lengths: Tensor, L: int) -> tuple[Tensor, Tensor]:
    """Inside algorithm: β(i,k) = Σ_{j,op} exp(score(i,j,k,op))·β(i,j)·β(j,k).

    Args:
        scores: (B, S, 2).
        lengths: (B,) int64, 1..L.
        L: the longest length, S = (L+1)·L·(L−1)/6.

    Returns:
        log β(0, length) (B,), and the rule probabilities P(j, op | i, k) (B, S, 2), 0 past each row's end.
    """
    _check("scores", scores, lengths, L)
    compute = _inside if runs_on_kernels(scores) else naive.inside
    return compute(scores, lengths, L)


def expected_permutation(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """R̃ (B, L, L), [b,k,o] = P(position k moves to output o), from rule probabilities (B, S, 2)."""
    _check("rules", rules, lengths, L)
    compute = _expected_permutation if runs_on_kernels(rules) else naive.expected_permutation
    return compute(rules, lengths, L)


def entropy(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Entropy (B,) in nats of the trees with rule probabilities (B, S, 2)."""
    _check("rules", rules, lengths, L)
    compute = _entropy if runs_on_kernels(rules) else naive.entropy
    return compute(rules, lengths, L)


def best_tree(scores: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Nodes (B, L−1, 4) of each row's tree of highest score, in preorder (i, j, k, op), −1 past its end."""
    _check("scores", scores, lengths, L)
    compute = _best_tree if runs_on_kernels(scores) else naive.best_tree
    return compute(scores.detach(), lengths, L)


def sample_tree(rules: Tensor, lengths: Tensor, uniforms: Tensor, L: int) -> Tensor:
    """Nodes (S, B, L−1, 4) of S trees per row, a function of `uniforms` (S, B, max(L−1, 1)) in [0, 1)."""
    _check("rules", rules, lengths, L)
    check_shape("uniforms", uniforms, ("S", len(lengths), max(L - 1, 1)))
    check_floating("uniforms", uniforms)
    check_device("uniforms", uniforms, "rules", rules)
    compute = _sample_tree if runs_on_kernels(rules) else naive.sample_tree
    return compute(rules.detach(), lengths, uniforms, L)


def _check(name: str, packed: Tensor, lengths: Tensor, L: int) -> None:
    check_shape(name, packed, ("B", number_of_splits(L), 2))
    check_floating(name, packed)
    check_lengths("lengths", lengths, name, packed)


# The kernels as torch operators. Each imports cpu.py when it first runs, because that imports numba.


@operator("ftor::tree_inside")
def _inside(scores: Tensor, lengths: Tensor, L: int) -> tuple[Tensor, Tensor]:
    from ftor.ops.permutation import cpu

    return cpu.inside(scores, lengths, L)


@_inside.register_fake
def _(scores: Tensor, lengths: Tensor, L: int) -> tuple[Tensor, Tensor]:
    return scores.new_empty(scores.shape[0]), torch.empty_like(scores)


@operator("ftor::tree_inside_backward")
def _inside_backward(
    grad_log_partition: Tensor, grad_rules: Tensor, rules: Tensor, lengths: Tensor, L: int
) -> Tensor:
    from ftor.ops.permutation import cpu

    return cpu.inside_backward(grad_log_partition, grad_rules, rules, lengths, L)


@_inside_backward.register_fake
def _(grad_log_partition: Tensor, grad_rules: Tensor, rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    return torch.empty_like(rules)


@operator("ftor::tree_expected_permutation")
def _expected_permutation(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    from ftor.ops.permutation import cpu

    return cpu.expected_permutation(rules, lengths, L)


@_expected_permutation.register_fake
def _(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    return rules.new_empty(rules.shape[0], L, L)


@operator("ftor::tree_expected_permutation_backward")
def _expected_permutation_backward(grad: Tensor, rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    from ftor.ops.permutation import cpu

    return cpu.expected_permutation_backward(grad, rules, lengths, L)


@_expected_permutation_backward.register_fake
def _(grad: Tensor, rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    return torch.empty_like(rules)


@operator("ftor::tree_entropy")
def _entropy(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    from ftor.ops.permutation import cpu

    return cpu.entropy(rules, lengths, L)


@_entropy.register_fake
def _(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    return rules.new_empty(rules.shape[0])


@operator("ftor::tree_entropy_backward")
def _entropy_backward(grad: Tensor, rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    from ftor.ops.permutation import cpu

    return cpu.entropy_backward(grad, rules, lengths, L)


@_entropy_backward.register_fake
def _(grad: Tensor, rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    return torch.empty_like(rules)


@operator("ftor::tree_best")
def _best_tree(scores: Tensor, lengths: Tensor, L: int) -> Tensor:
    from ftor.ops.permutation import cpu

    return cpu.best_tree(scores, lengths, L)


@_best_tree.register_fake
def _(scores: Tensor, lengths: Tensor, L: int) -> Tensor:
    return lengths.new_empty(scores.shape[0], max(L - 1, 0), 4)


@operator("ftor::tree_sample")
def _sample_tree(rules: Tensor, lengths: Tensor, uniforms: Tensor, L: int) -> Tensor:
    from ftor.ops.permutation import cpu

    return cpu.sample_tree(rules, lengths, uniforms, L)


@_sample_tree.register_fake
def _(rules: Tensor, lengths: Tensor, uniforms: Tensor, L: int) -> Tensor:
    return lengths.new_empty(*uniforms.shape[:2], max(L - 1, 0), 4)


def _keep_rules(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    rules, lengths, ctx.L = inputs
    ctx.save_for_backward(rules, lengths)


def _keep_inside(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    _, lengths, ctx.L = inputs
    ctx.save_for_backward(output[1], lengths)


def _inside_vjp(ctx: Any, grad_log_partition: Tensor, grad_rules: Tensor) -> tuple[Tensor, None, None]:
    return _inside_backward(grad_log_partition, grad_rules, *ctx.saved_tensors, ctx.L), None, None


def _expected_permutation_vjp(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    return _expected_permutation_backward(grad, *ctx.saved_tensors, ctx.L), None, None


def _entropy_vjp(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    return _entropy_backward(grad, *ctx.saved_tensors, ctx.L), None, None


_inside.register_autograd(_inside_vjp, setup_context=_keep_inside)
_expected_permutation.register_autograd(_expected_permutation_vjp, setup_context=_keep_rules)
_entropy.register_autograd(_entropy_vjp, setup_context=_keep_rules)
for _backward in (_inside_backward, _expected_permutation_backward, _entropy_backward):
    _backward.register_autograd(refuse_second_backward)
