"""The fertility layer: the number of copies of each token, from its contextual vector."""

from torch import Tensor, nn

from ftor.distributions import Fertility
from ftor.nn.padding import inside
from ftor.ops.check import check_dropout, check_lengths, check_shape, check_size


class FertilityLayer(nn.Module):
    """P(f_i | x) = softmax(MLP(x_i) / τ) over fertilities 0..d: section 6.1 of the paper.

    Args:
        width: D, the size of the incoming vectors.
        max_fertility: d, the largest number of copies of a token.
        hidden: size of the MLP's hidden layer.
        dropout: probability of dropping its units in training.
        temperature: τ; larger is flatter.
        validate_args: whether `Fertility` checks values; see there.
    """

    def __init__(
        self,
        width: int,
        max_fertility: int = 4,
        hidden: int = 128,
        dropout: float = 0.1,
        temperature: float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__()
        check_size("width", width, 1)
        check_size("max_fertility", max_fertility, 1)
        check_size("hidden", hidden, 1)
        check_dropout(dropout)
        if not isinstance(temperature, int | float) or temperature <= 0:
            raise ValueError(f"temperature: expected a positive number, found {temperature!r}")
        self.width, self.temperature, self.validate_args = width, temperature, validate_args
        self.mlp = nn.Sequential(
            nn.Linear(width, hidden), nn.ELU(), nn.Dropout(dropout), nn.Linear(hidden, max_fertility + 1)
        )

    def extra_repr(self) -> str:
        """The settings that the parts do not show."""
        return f"temperature={self.temperature}"

    def forward(self, x: Tensor, source_lengths: Tensor | None = None) -> Fertility:
        """Turn token vectors `x` (B, n, D) into a distribution over their fertilities.

        `source_lengths` (B,) int64, 1..n, are the numbers of tokens; the vectors after them are padding.
        """
        check_shape("x", x, ("B", "n", self.width))
        if source_lengths is not None:
            check_lengths("source_lengths", source_lengths, "x", x)
            # Padding gets no gradient, but 0·NaN would be NaN in that of the MLP's weights.
            padding = ~inside(source_lengths, x.shape[1])
            x = x.masked_fill(padding[..., None], 0)
        return Fertility(self.mlp(x) / self.temperature, source_lengths, self.validate_args)
