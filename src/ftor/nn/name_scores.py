"""Scores of target classes by the vectors of their names, for classes that training lacks."""

import torch
from torch import Tensor, nn

SPREAD = 0.4
"""The deviation of the numbers in the vectors of names, about that of word vectors."""
HIDDEN_SHARE = 0.5
"""The share of classes that training scores by their names only, drawn anew for each batch."""


class NameScores(nn.Module):
    """Adds a score by its name to the score that each class has of its own.

    A class that training lacks is scored by its name only. It takes no part in training, which would teach
    that it never occurs. So that names suffice, training hides the own scores of other classes now and then.

    Args:
        hidden: m, the size of what is translated.
        max_fertility: d.
        classes: V.
        size: E, the size of the vectors of names.
    """

    vectors: Tensor
    new: Tensor

    def __init__(self, hidden: int, max_fertility: int, classes: int, size: int) -> None:
        super().__init__()
        self.register_buffer("vectors", torch.zeros(classes, size))
        self.register_buffer("new", torch.zeros(classes, dtype=torch.bool))
        self.projection = nn.Linear(hidden, max_fertility * size, bias=False)

    @torch.no_grad()
    def fit(self, vectors: Tensor, seen: Tensor) -> None:
        """Take the vectors (V, E) of names, 0 without a name, and whether training has each class (V,)."""
        named = vectors.any(1)
        rows = vectors[named]
        if len(rows):
            rows = rows - rows.mean(0)
            self.vectors[named] = rows * (SPREAD / rows.std(correction=0).clamp(min=1e-6))
        self.new.copy_(named & ~seen)

    def forward(self, hidden: Tensor, own: Tensor) -> Tensor:
        """The scores (…, d, V) from what is translated (…, m) and the own scores of classes (…, d, V)."""
        by_name: Tensor = self.projection(hidden).view(*own.shape[:-1], -1) @ self.vectors.mT
        if not self.training:
            return own.masked_fill(self.new, 0) + by_name
        named = self.vectors.any(1)
        hides = named & (torch.rand(len(named), device=named.device) < HIDDEN_SHARE)
        return (own.masked_fill(hides, 0) + by_name).masked_fill(self.new, -torch.inf)
