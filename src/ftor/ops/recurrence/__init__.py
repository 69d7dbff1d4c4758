"""LSTMs with a highway gate, in any number of directions side by side: everything after the input projection.

In each direction, with σ the logistic function and h_0 = c_0 = 0,

    i, f, g, o, r = input projection of x_t + W (keep · h_{t−1}) + b
    c_t = σ(i)·tanh(g) + σ(f)·c_{t−1}
    h_t = σ(r)·σ(o)·tanh(c_t) + (1 − σ(r))·highway projection of x_t
"""

from torch import Tensor

from ftor.ops.check import check_floating, check_lengths, check_like, check_shape
from ftor.ops.recurrence import naive

__all__ = ["highway_lstm"]


def highway_lstm(
    projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None = None
) -> Tensor:
    """Hidden states of K directions that run side by side.

    Args:
        projected: (B, n, K, 6H), the inputs, projected: blocks of H for i, f, g, o, r and the highway value.
            Positions past a row's length are not read.
        weight: (K, 5H, H), recurrent, with blocks of rows in the same order.
        bias: (K, 5H).
        lengths: (B,) int64, 1..n.
        keep: (B, K, H), factors for h_{t−1} before the recurrent product, the same at every step
            (variational dropout), or None for all 1.

    Returns:
        (B, n, K, H). Even directions run left to right, odd ones right to left from each row's own end;
        exactly 0 past a row's length.
    """
    _check(projected, weight, bias, lengths, keep)
    return naive.highway_lstm(projected, weight, bias, lengths, keep)


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
    check_lengths("lengths", lengths, "projected", projected, 1, n, "the n of projected")
