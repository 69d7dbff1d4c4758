"""Which positions of a padded batch are real."""

import torch
from torch import Tensor


def inside(lengths: Tensor, n: int) -> Tensor:
    """Which positions (B, n) are before the ends of rows of `lengths` (B,)."""
    return torch.arange(n, device=lengths.device) < lengths[:, None]


def real_positions(lengths: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Row and place, (N,) each, of the positions of (B, n) that are before their row's end."""
    rows, places = inside(lengths, n).nonzero(as_tuple=True)
    return rows, places


def padded(values: Tensor, positions: tuple[Tensor, Tensor], B: int, n: int) -> Tensor:
    """Put `values` (N, …) in their `positions` of (B, n, …), and 0 elsewhere."""
    return values.new_zeros(B, n, *values.shape[1:]).index_put(positions, values)
