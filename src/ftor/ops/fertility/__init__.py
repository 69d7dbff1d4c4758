"""Sums of independent fertilities: their distribution, and which copy of which token lands where.

The input of every function is `log_p` (B, n, d+1): log P(f_i = r), normalised over r, with LOG_ZERO for
"never". Padding tokens have fertility 0 with probability 1: (0, LOG_ZERO, …). A length is impossible if no
fertilities with positive probability add up to it.
"""

from typing import Any

import torch
from torch import Tensor

from ftor.ops.check import check_device, check_floating, check_lengths, check_shape
from ftor.ops.dispatch import refuse_second_backward, runs_on_kernels
from ftor.ops.fertility import naive
from ftor.ops.fertility.naive import longest
from ftor.ops.operator import operator

__all__ = ["argmax", "entropy", "length_log_probs", "log_prob_length", "longest", "marginals", "sample"]


def length_log_probs(log_p: Tensor, max_length: int) -> Tensor:
    """The log P(f_1 + … + f_n = l) for every l up to `max_length`.

    Args:
        log_p: (B, n, d+1).
        max_length: the largest l wanted.

    Returns:
        (B, max_length+1); LOG_ZERO, without gradient, where l is impossible.
    """
    _check(log_p)
    if not runs_on_kernels(log_p):
        return naive.length_log_probs(log_p, max_length)
    first = log_p.new_zeros(log_p.shape[0], dtype=torch.int64)
    log_probs: Tensor = _length_log_probs(log_p, first, max_length + 1)
    return log_probs


def log_prob_length(log_p: Tensor, lengths: Tensor) -> Tensor:
    """The log P(f_1 + … + f_n = length) of each row's length.

    Args:
        log_p: (B, n, d+1).
        lengths: (B,) int64.

    Returns:
        (B,); LOG_ZERO, without gradient, where the length is impossible.
    """
    _check(log_p, lengths)
    if not runs_on_kernels(log_p):
        return naive.log_prob_length(log_p, lengths)
    log_probs: Tensor = _length_log_probs(log_p, lengths, 1)
    return log_probs.squeeze(1)


def marginals(log_p: Tensor, lengths: Tensor, max_length: int) -> Tensor:
    """F̃[b,i,j,u-1] = P(intermediate token j is the u-th copy of token i | length): section 5 of the paper.

    Args:
        log_p: (B, n, d+1).
        lengths: (B,) int64, the length of each row.
        max_length: L, the size of the result's third dimension.

    Returns:
        (B, n, L, d): exactly 0 for j ≥ length, at padding tokens, and in rows whose length is impossible
        or greater than L.
    """
    _check(log_p, lengths)
    compute = _marginals if runs_on_kernels(log_p) else naive.marginals
    return compute(log_p, lengths, max_length)


def entropy(log_p: Tensor, lengths: Tensor, max_length: int) -> Tensor:
    """The entropy (B,) in nats of the fertilities given the length of each row; 0 where it is impossible.

    In plain torch on every device, and differentiable any number of times.

    Args:
        log_p: (B, n, d+1).
        lengths: (B,) int64, the length of each row.
        max_length: at least the greatest of them.
    """
    _check(log_p, lengths)
    return naive.entropy(log_p, lengths, max_length)


def argmax(log_p: Tensor, lengths: Tensor) -> Tensor:
    """The most likely fertilities among those that add up to the length.

    Args:
        log_p: (B, n, d+1).
        lengths: (B,) int64.

    Returns:
        (B, n) int64. The smaller fertility wins a tie, from the last token to the first. Rows whose length
        is impossible are all 0.
    """
    _check(log_p, lengths)
    log_p = log_p.detach()
    if not runs_on_kernels(log_p):
        return naive.argmax(log_p, lengths)
    best: Tensor = _argmax(log_p, lengths)
    return best


def sample(log_p: Tensor, lengths: Tensor | None, uniforms: Tensor) -> Tensor:
    """S draws of the fertilities of each row, given its length if there is one.

    Args:
        log_p: (B, n, d+1).
        lengths: (B,) int64, or None.
        uniforms: (S, B, n) in [0, 1); the draws are a function of them.

    Returns:
        (S, B, n) int64. Rows whose length is impossible are all 0.
    """
    _check(log_p, lengths)
    check_shape("uniforms", uniforms, ("S", *log_p.shape[:2]))
    check_floating("uniforms", uniforms)
    check_device("uniforms", uniforms, "log_p", log_p)
    log_p = log_p.detach()
    if lengths is None or not runs_on_kernels(log_p):
        return naive.sample(log_p, lengths, uniforms)
    drawn: Tensor = _sample(log_p, lengths, uniforms)
    return drawn


def _check(log_p: Tensor, lengths: Tensor | None = None) -> None:
    check_shape("log_p", log_p, ("B", "n", "d+1"))
    check_floating("log_p", log_p)
    if lengths is not None:
        check_lengths("lengths", lengths, "log_p", log_p)


# The kernels as torch operators. Each imports cpu.py when it first runs, because that imports numba.


@operator("ftor::fertility_length_log_probs")
def _length_log_probs(log_p: Tensor, first: Tensor, count: int) -> Tensor:
    from ftor.ops.fertility import cpu

    return cpu.length_log_probs(log_p, first, count)


@_length_log_probs.register_fake
def _(log_p: Tensor, first: Tensor, count: int) -> Tensor:
    return log_p.new_empty(log_p.shape[0], count)


@operator("ftor::fertility_length_log_probs_backward")
def _length_log_probs_backward(grad: Tensor, log_p: Tensor, first: Tensor) -> Tensor:
    from ftor.ops.fertility import cpu

    return cpu.length_log_probs_backward(grad, log_p, first)


@_length_log_probs_backward.register_fake
def _(grad: Tensor, log_p: Tensor, first: Tensor) -> Tensor:
    return log_p.new_empty(log_p.shape)


@operator("ftor::fertility_marginals")
def _marginals(log_p: Tensor, lengths: Tensor, max_length: int) -> Tensor:
    from ftor.ops.fertility import cpu

    return cpu.marginals(log_p, lengths, max_length)


@_marginals.register_fake
def _(log_p: Tensor, lengths: Tensor, max_length: int) -> Tensor:
    batch, n, width = log_p.shape
    return log_p.new_empty(batch, n, max_length, width - 1)


@operator("ftor::fertility_marginals_backward")
def _marginals_backward(grad: Tensor, log_p: Tensor, lengths: Tensor) -> Tensor:
    from ftor.ops.fertility import cpu

    return cpu.marginals_backward(grad, log_p, lengths)


@_marginals_backward.register_fake
def _(grad: Tensor, log_p: Tensor, lengths: Tensor) -> Tensor:
    return log_p.new_empty(log_p.shape)


@operator("ftor::fertility_argmax")
def _argmax(log_p: Tensor, lengths: Tensor) -> Tensor:
    from ftor.ops.fertility import cpu

    return cpu.argmax(log_p, lengths)


@_argmax.register_fake
def _(log_p: Tensor, lengths: Tensor) -> Tensor:
    return lengths.new_empty(log_p.shape[:2])


@operator("ftor::fertility_sample")
def _sample(log_p: Tensor, lengths: Tensor, uniforms: Tensor) -> Tensor:
    from ftor.ops.fertility import cpu

    return cpu.sample(log_p, lengths, uniforms)


@_sample.register_fake
def _(log_p: Tensor, lengths: Tensor, uniforms: Tensor) -> Tensor:
    return lengths.new_empty(uniforms.shape)


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*(value for value in inputs if isinstance(value, Tensor)))


def _length_log_probs_vjp(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    return _length_log_probs_backward(grad, *ctx.saved_tensors), None, None


def _marginals_vjp(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
    return _marginals_backward(grad, *ctx.saved_tensors), None, None


_length_log_probs.register_autograd(_length_log_probs_vjp, setup_context=_keep_inputs)
_marginals.register_autograd(_marginals_vjp, setup_context=_keep_inputs)
_length_log_probs_backward.register_autograd(refuse_second_backward)
_marginals_backward.register_autograd(refuse_second_backward)
