"""What is said if training fails because numbers are not finite."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ftor.errors import FtorError
from ftor.text.batches import Batch
from ftor.text.reading import Pair


class TrainingError(FtorError):
    """Training failed. The message says why and where in the data."""


def not_finite(
    batch: Batch, objective: Tensor | None, pairs: Sequence[Pair], train_name: str, epoch: int
) -> str:
    """A message that names the lines of a batch, or of its bad examples.

    Args:
        batch: whose loss or gradient is not finite.
        objective: of each example; None if it could not be computed.
        pairs: the training pairs.
        train_name: of their file.
        epoch: counted from 1.
    """
    bad = torch.ones_like(batch.rows, dtype=torch.bool)
    if objective is not None:
        bad = ~objective.detach().isfinite()
    rows = batch.rows[bad] if bool(bad.any()) else batch.rows
    lines = sorted(pairs[row].line for row in rows.tolist())
    what = "loss" if bool(bad.any()) else "gradient"
    return (
        f"{train_name}: the {what} is not finite in epoch {epoch}, at "
        f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}; a smaller learning_rate may help"
    )
