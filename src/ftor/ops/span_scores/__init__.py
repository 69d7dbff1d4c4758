"""Scores of every split of every span from fence-post vectors, with the hidden layer and its dropout fused.

The scorer's hidden layer is linear in differences of fence posts, so its pre-activation for a split
(i, j, k) is the sum of three projected fence posts, and no tensor of size l³·H is needed.
"""

from typing import Any

from torch import Tensor

from ftor.ops.check import check_dropout, check_floating, check_lengths, check_like, check_shape
from ftor.ops.dispatch import refuse_second_backward, runs_on_kernels
from ftor.ops.operator import operator
from ftor.ops.span_scores import naive
from ftor.ops.splits import number_of_splits

__all__ = ["difference_scores", "span_scores"]


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
    _check({"start": start, "split": split, "end": end}, {}, weight, bias, lengths, dropout)
    seed = _within_64_bits(seed)
    if not runs_on_kernels(start):
        return naive.span_scores(start, split, end, weight, bias, lengths, dropout, seed)
    scaled = weight / (1 - dropout)
    scores: Tensor = _span_scores(start, split, end, None, scaled, bias, lengths, dropout, seed)
    return scores


def difference_scores(
    left: Tensor,
    right: Tensor,
    shift: Tensor,
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    dropout: float = 0.0,
    seed: int = 0,
) -> Tensor:
    """Like `span_scores` with hidden units (left_j − left_i) + (right_k − right_j) + shift.

    Args:
        left, right: (B, L+1, H), the fence posts projected by the weights of the left and the right part.
        shift: (H,), the hidden layer's bias.

    The other arguments and the result are those of `span_scores`.
    """
    _check({"left": left, "right": right}, {"shift": shift}, weight, bias, lengths, dropout)
    seed = _within_64_bits(seed)
    if not runs_on_kernels(left):
        return naive.span_scores(-left, shift + left - right, right, weight, bias, lengths, dropout, seed)
    scaled = weight / (1 - dropout)
    scores: Tensor = _span_scores(left, None, right, shift, scaled, bias, lengths, dropout, seed)
    return scores


def _check(
    posts: dict[str, Tensor],
    units: dict[str, Tensor],
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    dropout: float,
) -> None:
    """Raise if an argument does not fit the first of the fence posts (B, L+1, H)."""
    name, first = next(iter(posts.items()))
    check_shape(name, first, ("B", "L+1", "H"))
    check_floating(name, first)
    if first.shape[1] < 2:
        raise ValueError(
            f"{name}: expected at least 2 fence posts in (B, L+1, H), found {tuple(first.shape)}"
        )
    H = first.shape[2]
    expected = [(other, tensor, tuple(first.shape)) for other, tensor in posts.items()]
    expected += [(other, tensor, (H,)) for other, tensor in units.items()]
    for other, tensor, shape in [*expected, ("weight", weight, (2, H)), ("bias", bias, (2,))]:
        check_shape(other, tensor, shape)
        check_like(other, tensor, name, first)
    check_lengths("lengths", lengths, name, first)
    check_dropout(dropout)


def _within_64_bits(seed: int) -> int:
    """The seed as a signed number, which operators of torch need."""
    return (seed + 2**63) % 2**64 - 2**63


# The kernels as torch operators. Each imports cpu.py when it first runs, because that imports numba.


@operator("ftor::span_scores")
def _span_scores(
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
    from ftor.ops.span_scores import cpu

    return cpu.span_scores(start, split, end, shift, weight, bias, lengths, p, seed)


@_span_scores.register_fake
def _(
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
    return start.new_empty(start.shape[0], number_of_splits(start.shape[1] - 1), 2)


@operator("ftor::span_scores_backward")
def _span_scores_backward(
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
    from ftor.ops.span_scores import cpu

    return cpu.span_scores_backward(grad, start, split, end, shift, weight, lengths, p, seed)


@_span_scores_backward.register_fake
def _(
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
    middle = start if shift is None else shift
    grads = [tensor.new_empty(tensor.shape) for tensor in (start, middle, end, weight)]
    return grads[0], grads[1], grads[2], grads[3], weight.new_empty(2)


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    start, split, end, shift, weight, _, lengths, ctx.p, ctx.seed = inputs
    ctx.differences = split is None
    ctx.save_for_backward(start, shift if ctx.differences else split, end, weight, lengths)


def _span_scores_vjp(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    start, middle, end, weight, lengths = ctx.saved_tensors
    split, shift = (None, middle) if ctx.differences else (middle, None)
    d_start, d_middle, d_end, d_weight, d_bias = _span_scores_backward(
        grad, start, split, end, shift, weight, lengths, ctx.p, ctx.seed
    )
    d_split, d_shift = (None, d_middle) if ctx.differences else (d_middle, None)
    return d_start, d_split, d_end, d_shift, d_weight, d_bias, None, None, None


_span_scores.register_autograd(_span_scores_vjp, setup_context=_keep_inputs)
_span_scores_backward.register_autograd(refuse_second_backward)
