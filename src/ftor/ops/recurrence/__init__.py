"""LSTMs with a highway gate, in several directions at once: everything after the input projection.

In each direction, with σ the logistic function and h_0 = c_0 = 0,

    i, f, g, o, r = input projection of x_t + W (keep · h_{t−1}) + b
    c_t = σ(i)·tanh(g) + σ(f)·c_{t−1}
    h_t = σ(r)·σ(o)·tanh(c_t) + (1 − σ(r))·highway projection of x_t
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ftor.ops.check import check_floating, check_lengths, check_like, check_range, check_shape
from ftor.ops.dispatch import reads_values, refuse_second_backward, runs_on_kernels
from ftor.ops.operator import operator
from ftor.ops.recurrence import naive

__all__ = ["highway_lstm"]

FEWEST_UNITS = 8
"""The least H that the kernels take."""


def highway_lstm(
    projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None = None
) -> Tensor:
    """Hidden states of K directions.

    Args:
        projected: (B, n, K, 6H), the inputs, projected: blocks of H for i, f, g, o, r and the highway value.
            Positions past a row's length are not read.
        weight: (K, 5H, H), recurrent, with blocks of rows in the same order.
        bias: (K, 5H).
        lengths: (B,) int64, 1..n. Checked on the CPU only.
        keep: (B, K, H), factors for h_{t−1} before the recurrent product, the same at every step
            (variational dropout), or None for all 1.

    Returns:
        (B, n, K, H). Even directions run left to right, odd ones right to left from each row's own end;
        exactly 0 past a row's length.
    """
    _check(projected, weight, bias, lengths, keep)
    if not runs_on_kernels(projected):
        return naive.highway_lstm(projected, weight, bias, lengths, keep)
    H = weight.shape[-1]
    if H < FEWEST_UNITS:
        projected, weight, bias, keep = _with_idle_units(projected, weight, bias, keep, FEWEST_UNITS - H)
    states: Tensor = _highway_lstm(projected, weight, bias, lengths, keep)[0]
    return states[..., :H]


def _with_idle_units(
    projected: Tensor, weight: Tensor, bias: Tensor, keep: Tensor | None, more: int
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Add units whose weights and inputs are all 0. They stay 0 and do not change the others."""
    K, _, H = weight.shape
    projected = F.pad(projected.reshape(*projected.shape[:3], 6, H), (0, more)).flatten(-2)
    weight = F.pad(weight.reshape(K, 5, H, H), (0, more, 0, more)).flatten(1, 2)
    bias = F.pad(bias.reshape(K, 5, H), (0, more)).flatten(-2)
    return projected, weight, bias, None if keep is None else F.pad(keep, (0, more))


def _check(projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None) -> None:
    check_shape("projected", projected, ("B", "n", "K", "6H"))
    check_floating("projected", projected)
    B, n, K, gates = projected.shape
    if n < 1 or gates < 6 or gates % 6:
        found = tuple(projected.shape)
        raise ValueError(f"projected: expected (B, n, K, 6H) with n and H of at least 1, found {found}")
    H = gates // 6
    expected = {"weight": (weight, (K, 5 * H, H)), "bias": (bias, (K, 5 * H))}
    if keep is not None:
        expected["keep"] = keep, (B, K, H)
    for name, (tensor, shape) in expected.items():
        check_shape(name, tensor, shape)
        check_like(name, tensor, "projected", projected)
    check_lengths("lengths", lengths, "projected", projected)
    if reads_values(lengths):
        check_range("lengths", lengths, 1, n, "the n of projected")


# The kernels as torch operators. Each imports cpu.py when it first runs, because that imports numba.


@operator("ftor::highway_lstm")
def _highway_lstm(
    projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None
) -> tuple[Tensor, Tensor]:
    from ftor.ops.recurrence import cpu

    return cpu.highway_lstm(projected, weight, bias, lengths, keep)


@_highway_lstm.register_fake
def _(
    projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None
) -> tuple[Tensor, Tensor]:
    B, n, K, gates = projected.shape
    H = gates // 6
    return projected.new_empty(B, n, K, H), projected.new_empty(B, n, K, 7 * H)


@operator("ftor::highway_lstm_backward")
def _highway_lstm_backward(
    grad: Tensor, weight: Tensor, lengths: Tensor, keep: Tensor | None, states: Tensor, saved: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    from ftor.ops.recurrence import cpu

    return cpu.highway_lstm_backward(grad, weight, lengths, keep, states, saved)


@_highway_lstm_backward.register_fake
def _(
    grad: Tensor, weight: Tensor, lengths: Tensor, keep: Tensor | None, states: Tensor, saved: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    B, n, K, H = states.shape
    return states.new_empty(B, n, K, 6 * H), weight.new_empty(K, 5 * H, H), weight.new_empty(K, 5 * H)


def _keep_inputs_and_outputs(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    _, weight, _, lengths, keep = inputs
    ctx.set_materialize_grads(False)  # the second output has no gradient, and zeros for it would cost time
    ctx.save_for_backward(weight, lengths, keep, *output)


def _highway_lstm_vjp(ctx: Any, grad: Tensor | None, _: None) -> tuple[Tensor | None, ...]:
    if grad is None:
        return None, None, None, None, None
    weight, lengths, keep, states, saved = ctx.saved_tensors
    d_projected, d_weight, d_bias = _highway_lstm_backward(grad, weight, lengths, keep, states, saved)
    d_keep = _gradient_of_keep(d_projected, weight, states) if ctx.needs_input_grad[4] else None
    return d_projected, d_weight, d_bias, None, d_keep


def _gradient_of_keep(d_projected: Tensor, weight: Tensor, states: Tensor) -> Tensor:
    """Σ_t h_{t−1} · Wᵀ d_gates_t, without a kernel: masks of dropout need no gradient."""
    H = weight.shape[-1]
    d_fed_back = torch.einsum("bnkg,kgh->bnkh", d_projected[..., : 5 * H], weight)
    after, before = F.pad(states, (0, 0, 0, 0, 1, 0))[:, :-1], F.pad(states, (0, 0, 0, 0, 0, 1))[:, 1:]
    backward = torch.arange(states.shape[2], device=states.device) % 2 == 1
    return (d_fed_back * torch.where(backward[:, None], before, after)).sum(1)


_highway_lstm.register_autograd(_highway_lstm_vjp, setup_context=_keep_inputs_and_outputs)
_highway_lstm_backward.register_autograd(refuse_second_backward)
