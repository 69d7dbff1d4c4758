"""Scores of every split of every span from fence-post vectors, with the hidden layer and its dropout fused.

The scorer's hidden layer is linear in differences of fence posts, so its pre-activation for a split
(i, j, k) is the sum of three projected fence posts, and no tensor of size l³·H is ever needed.
"""

from typing import Any

from torch import Tensor
from torch.library import custom_op

from ftor.ops.check import check_floating, check_lengths, check_like, check_shape
from ftor.ops.dispatch import refuse_second_backward, runs_on_kernels
from ftor.ops.span_scores import naive
from ftor.ops.splits import number_of_splits

__all__ = ["span_scores"]


def span_scores(
    start: Tensor,
    split: Tensor,
    end: Tensor,
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    dropout: float = 0.0,
    seed: int = 0,
) -> Tensor:
    """Scores (B, S, 2) of every split: weight · dropout(relu(start_i + split_j + end_k)) + bias.

    Args:
        start, split, end: (B, L+1, H), the projected fence posts; rows past a row's length are not read.
        weight: (2, H), for straight and inverted.
        bias: (2,).
        lengths: (B,) int64, 1..L.
        dropout: the probability with which each hidden unit of each split is dropped.
        seed: a 64-bit number that decides which; the same seed drops the same units on every device.

    Returns:
        (B, S, 2), packed as `ftor.ops.splits` says, 0 past each row's length.
    """
    check_shape("start", start, ("B", "L+1", "H"))
    check_floating("start", start)
    if start.shape[1] < 2:
        raise ValueError(f"start: expected at least 2 fence posts in (B, L+1, H), found {tuple(start.shape)}")
    shapes = {"split": start.shape, "end": start.shape, "weight": (2, start.shape[2]), "bias": (2,)}
    for (name, shape), tensor in zip(shapes.items(), (split, end, weight, bias), strict=True):
        check_shape(name, tensor, shape)
        check_like(name, tensor, "start", start)
    check_lengths("lengths", lengths, "start", start, 1, start.shape[1] - 1, "the L of start")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout: expected 0 ≤ dropout < 1, found {dropout}")
    if not runs_on_kernels(start):
        return naive.span_scores(start, split, end, weight, bias, lengths, dropout, seed)
    scores: Tensor = _span_scores(start, split, end, weight / (1 - dropout), bias, lengths, dropout, seed)
    return scores


# The kernels as torch operators. Each imports cpu.py when it first runs, because that imports numba.


@custom_op("ftor::span_scores", mutates_args=(), device_types="cpu")
def _span_scores(
    start: Tensor,
    split: Tensor,
    end: Tensor,
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    p: float,
    seed: int,
) -> Tensor:
    from ftor.ops.span_scores import cpu

    return cpu.span_scores(start, split, end, weight, bias, lengths, p, seed)


@_span_scores.register_fake
def _(
    start: Tensor,
    split: Tensor,
    end: Tensor,
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    p: float,
    seed: int,
) -> Tensor:
    return start.new_empty(start.shape[0], number_of_splits(start.shape[1] - 1), 2)


@custom_op("ftor::span_scores_backward", mutates_args=(), device_types="cpu")
def _span_scores_backward(
    grad: Tensor,
    start: Tensor,
    split: Tensor,
    end: Tensor,
    weight: Tensor,
    lengths: Tensor,
    p: float,
    seed: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    from ftor.ops.span_scores import cpu

    return cpu.span_scores_backward(grad, start, split, end, weight, lengths, p, seed)


@_span_scores_backward.register_fake
def _(
    grad: Tensor,
    start: Tensor,
    split: Tensor,
    end: Tensor,
    weight: Tensor,
    lengths: Tensor,
    p: float,
    seed: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    grads = [tensor.new_empty(tensor.shape) for tensor in (start, split, end, weight)]
    return grads[0], grads[1], grads[2], grads[3], weight.new_empty(2)


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    start, split, end, weight, _, lengths, ctx.p, ctx.seed = inputs
    ctx.save_for_backward(start, split, end, weight, lengths)


def _span_scores_vjp(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    return *_span_scores_backward(grad, *ctx.saved_tensors, ctx.p, ctx.seed), None, None, None


_span_scores.register_autograd(_span_scores_vjp, setup_context=_keep_inputs)
_span_scores_backward.register_autograd(refuse_second_backward)
