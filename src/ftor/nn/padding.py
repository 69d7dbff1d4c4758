"""Which positions of a padded batch are real."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


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


def padded_rows(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Sequences of numbers as a tensor (B, L), padded with 0, and their lengths (B,)."""
    tensors = [torch.tensor(row, dtype=torch.int64, device=device) for row in rows]
    return pad_sequence(tensors, batch_first=True), torch.tensor(list(map(len, rows)), device=device)
