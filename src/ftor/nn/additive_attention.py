"""Additive attention of an LSTM decoder to the source."""

import torch
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    """vᵀ tanh(W s + U h_i), normalised over i.

    Args:
        width: H, the size of queries s and keys h.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor, values: Tensor, inside: Tensor) -> Tensor:
        """The attended values (B, W, H).

        Args:
            query: (B, W, H), W queries for each source.
            keys: (B, n, H), U h.
            values: (B, n, H), h.
            inside: (B, n), False at padding.
        """
        scores: Tensor = self.score((self.query(query)[:, :, None] + keys[:, None]).tanh()).squeeze(-1)
        weights = scores.masked_fill(~inside[:, None], -torch.inf).softmax(-1)
        return weights @ values
