"""Which positions of a padded batch are real."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ftor.ops.dispatch import reads_values


def inside(lengths: Tensor, n: int) -> Tensor:
    """Which positions (B, n) are before the ends of rows of `lengths` (B,)."""
    return torch.arange(n, device=lengths.device) < lengths[:, None]


class RealPositions:
    """The positions of (B, n) for which something is computed, N of them.

    On the CPU they are those before their row's end. Other devices would have to wait for their number, so
    there they are all positions, and what is computed at padding is thrown away.

    Args:
        lengths: (B,) of the rows.
        n: positions of a row.

    Attributes:
        rows: (N,), the row of each.
        everywhere: whether they are all positions, row by row.
    """

    def __init__(self, lengths: Tensor, n: int) -> None:
        self._inside = inside(lengths, n)
        self._places: Tensor | None = None
        if reads_values(lengths):
            self.rows, self._places = self._inside.nonzero(as_tuple=True)
            self.everywhere = len(self.rows) == len(lengths) * n
        else:
            self.rows = torch.arange(len(lengths), device=lengths.device)[:, None].expand(-1, n).flatten()
            self.everywhere = True

    def take(self, values: Tensor) -> Tensor:
        """The values (N, …) of (B, n, …)."""
        return values.flatten(0, 1) if self._places is None else values[self.rows, self._places]

    def put(self, values: Tensor) -> Tensor:
        """The `values` (N, …) in their places of (B, n, …), and 0 past the rows' ends."""
        shape = *self._inside.shape, *values.shape[1:]
        if self._places is None:
            past_the_end = ~self._inside.view(*self._inside.shape, *[1] * (values.dim() - 1))
            return values.view(shape).masked_fill(past_the_end, 0)
        return values.new_zeros(shape).index_put((self.rows, self._places), values)


def padded_rows(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Sequences of numbers as a tensor (B, L), padded with 0, and their lengths (B,)."""
    tensors = [torch.tensor(row, dtype=torch.int64, device=device) for row in rows]
    return pad_sequence(tensors, batch_first=True), torch.tensor(list(map(len, rows)), device=device)
