"""Which positions of a padded batch are real, so that no work goes into the others."""

import torch
from torch import Tensor


def real_positions(lengths: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Row and place, (N,) each, of the positions of (B, n) that are before their row's end."""
    rows, places = (torch.arange(n, device=lengths.device) < lengths[:, None]).nonzero(as_tuple=True)
    return rows, places


def padded(values: Tensor, positions: tuple[Tensor, Tensor], B: int, n: int) -> Tensor:
    """Put `values` (N, …) in their `positions` of (B, n, …), and 0 elsewhere."""
    return values.new_zeros(B, n, *values.shape[1:]).index_put(positions, values)
