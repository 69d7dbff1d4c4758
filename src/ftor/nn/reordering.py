"""The reordering layer: a distribution over separable permutations of a sequence of vectors."""

import torch
from torch import Tensor, nn

from ftor.distributions import SeparablePermutation
from ftor.ops.check import check_dropout, check_lengths, check_shape, check_size


class ReorderingLayer(nn.Module):
    """Scores every split of every span from differences of fence posts: section 6.2 of the paper.

    With Z = (begin, x_1, …, x_l, end), fence post p is the forward half of Z_p beside the backward half of
    −Z_{p+1}, and a span's features are the difference of its two fence posts. The scorer maps the features
    of both parts of a split to 2 scores, through one hidden layer with ReLU and dropout.

    Begin and end are put at the ends of each sequence, so no result depends on the rest of the batch. Only
    the forward half of `begin` and the backward half of `end` are read. Their sizes are those of the paper.

    Args:
        width: D, the size of the incoming vectors, even.
        hidden: H, the size of the scorer's hidden layer; 4·D by default.
        dropout: probability of dropping its units in training.
        validate_args: whether `SeparablePermutation` checks values; see there.
    """

    def __init__(
        self,
        width: int,
        hidden: int | None = None,
        dropout: float = 0.1,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__()
        check_size("width", width, 2)
        if width % 2:
            raise ValueError(f"width: expected an even number, found {width}")
        if hidden is not None:
            check_size("hidden", hidden, 1)
        check_dropout(dropout)
        self.width, self.dropout, self.validate_args = width, dropout, validate_args
        self.begin = nn.Parameter(torch.randn(width))
        self.end = nn.Parameter(torch.randn(width))
        self.hidden = nn.Linear(2 * width, 4 * width if hidden is None else hidden)
        self.output = nn.Linear(self.hidden.out_features, 2)

    def extra_repr(self) -> str:
        """The settings that the parts do not show."""
        return f"width={self.width}, dropout={self.dropout}"

    def forward(
        self, x: Tensor, lengths: Tensor, generator: torch.Generator | None = None
    ) -> SeparablePermutation:
        """Turn vectors `x` (B, L, D) with `lengths` (B,) int64, 1..L, into a distribution over permutations.

        `generator` draws the seed of dropout in training; by default that of torch.
        """
        check_shape("x", x, ("B", "L", self.width))
        check_lengths("lengths", lengths, "x", x)
        fence_posts = self._fence_posts(x, lengths)
        left, right = self.hidden.weight.chunk(2, dim=1)
        return SeparablePermutation.from_differences(
            fence_posts @ left.mT,
            fence_posts @ right.mT,
            self.hidden.bias,
            self.output.weight,
            self.output.bias,
            lengths,
            dropout=self.dropout if self.training else 0.0,
            generator=generator,
            validate_args=self.validate_args,
        )

    def _fence_posts(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Fence posts (B, L+1, D)."""
        B, L, _ = x.shape
        half = self.width // 2
        posts = torch.arange(L + 1, device=x.device)[:, None]
        length = lengths[:, None, None]
        forward = torch.cat([self.begin[:half].expand(B, 1, half), x[..., :half]], 1)
        backward = torch.cat([x[..., half:], self.end[half:].expand(B, 1, half)], 1)
        backward = torch.where(posts == length, self.end[half:], backward)
        return torch.cat([forward, -backward], -1).masked_fill(posts > length, 0)
