"""The fertility layer: how many copies of each token, from its contextual vector."""

import torch
from torch import Tensor, nn

from ftor.distributions import Fertility
from ftor.ops.check import check_lengths, check_shape


class FertilityLayer(nn.Module):
    """P(f_i | x) = softmax(MLP(x_i) / τ) over fertilities 0..d: section 6.1 of the paper.

    Args:
        width: D, the size of the incoming vectors.
        max_fertility: d, the most copies of a token.
        hidden: size of the MLP's hidden layer.
        dropout: probability of dropping its units in training.
        temperature: τ; larger is flatter.
    """

    def __init__(
        self,
        width: int,
        max_fertility: int = 4,
        hidden: int = 128,
        dropout: float = 0.1,
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        if max_fertility < 1:
            raise ValueError(f"max_fertility: expected at least 1, found {max_fertility}")
        if temperature <= 0:
            raise ValueError(f"temperature: expected a positive number, found {temperature}")
        self.width, self.temperature = width, temperature
        self.mlp = nn.Sequential(
            nn.Linear(width, hidden), nn.ELU(), nn.Dropout(dropout), nn.Linear(hidden, max_fertility + 1)
        )

    def forward(self, x: Tensor, source_lengths: Tensor | None = None) -> Fertility:
        """Turn token vectors `x` (B, n, D) into a distribution over their fertilities."""
        check_shape("x", x, ("B", "n", self.width))
        if source_lengths is not None:
            check_lengths("source_lengths", source_lengths, "x", x, 1, x.shape[1], "the n of x")
            # Padding gets no gradient, but 0·NaN would be NaN in that of the MLP's weights.
            padding = torch.arange(x.shape[1], device=x.device) >= source_lengths[:, None]
            x = x.masked_fill(padding[..., None], 0)
        return Fertility(self.mlp(x) / self.temperature, source_lengths)
