"""Attention of a Transformer: relative self-attention, and attention to the source."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ftor.ops.check import check_dropout, check_size


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """The sinusoidal encodings (…, D) of `positions` (…), which may be negative."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10000.0) / width))
    angles = positions[..., None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


class _Attention(nn.Module):
    """Several heads, linear maps without biases. The arguments are those of `RelativeAttention`."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        check_size("heads", heads, 1)
        check_dropout(dropout)
        if width % heads:
            raise ValueError(f"width: expected a multiple of heads, {heads}, found {width}")
        self.heads, self.dropout = heads, dropout
        self.merge = self._linear(width, width)

    def _linear(self, inputs: int, outputs: int) -> nn.Linear:
        linear = nn.Linear(inputs, outputs, bias=False)
        nn.init.xavier_uniform_(linear.weight)
        return linear

    def _split(self, x: Tensor) -> Tensor:
        """(B, n, D) → (B, heads, n, D / heads)."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        """Add `bias` to the scaled scores, normalise, and concatenate the heads: (B, L, D)."""
        dropout = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(query, key, value, bias, dropout)
        merged: Tensor = self.merge(attended.transpose(1, 2).flatten(-2))
        return merged


class RelativeAttention(_Attention):
    """Self-attention whose scores are (q + a)·k + (q + b)·P sinusoid(distance), scaled by 1/√(head width).

    Args:
        width: D.
        heads: number of heads; a and b are learned for each.
        dropout: probability of dropping an attention weight in training.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.1) -> None:
        super().__init__(width, heads, dropout)
        self.project = self._linear(width, 3 * width)
        self.distance = self._linear(width, width)
        self.content_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))
        self.distance_bias = nn.Parameter(torch.zeros(heads, 1, width // heads))

    def forward(
        self, x: Tensor, allowed: Tensor, before: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attend from new positions to those before them and to each other.

        Args:
            x: (B, L, D), the new positions.
            allowed: (B or 1, L or 1, m + L), which positions each of them may look at.
            before: keys and values (B, heads, m, D / heads) of the m positions before them.

        Returns:
            (B, L, D), and keys and values with the new ones, (B, heads, m + L, D / heads).
        """
        query, key, value = (self._split(part) for part in self.project(x).chunk(3, -1))
        key, value = (torch.cat(both, 2) for both in zip(before, (key, value), strict=True))
        L, n = x.shape[1], key.shape[2]
        # From the first new position to the last one (negative), up to the last one to the first of all.
        distances = torch.arange(1 - L, n, device=x.device)
        encoded = self._split(self.distance(sinusoids(distances, x.shape[-1]).to(x.dtype))[None])
        by_distance = (query + self.distance_bias) @ encoded.mT
        positions = torch.arange(n, device=x.device)
        places = (positions[n - L :, None] - positions + L - 1).expand(*by_distance.shape[:2], L, n)
        bias = by_distance.gather(-1, places) / math.sqrt(query.shape[-1])
        bias = bias.masked_fill(~allowed[:, None], -torch.inf)
        return self._attend(query + self.content_bias, key, value, bias), key, value


class CrossAttention(_Attention):
    """Ordinary attention from one sequence to another.

    Args:
        width: D.
        heads: number of heads.
        dropout: probability of dropping an attention weight in training.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.1) -> None:
        super().__init__(width, heads, dropout)
        self.query = self._linear(width, width)
        self.memory = self._linear(width, 2 * width)

    def read(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, heads, n, D / heads) of `memory` (B, n, D)."""
        key, value = (self._split(part) for part in self.memory(memory).chunk(2, -1))
        return key, value

    def forward(self, x: Tensor, key: Tensor, value: Tensor, inside: Tensor) -> Tensor:
        """Attend from `x` (B, L, D) to the positions that are `inside` (B, n): (B, L, D)."""
        bias = torch.zeros_like(inside, dtype=key.dtype).masked_fill(~inside, -torch.inf)
        return self._attend(self._split(self.query(x)), key, value, bias[:, None, None])
