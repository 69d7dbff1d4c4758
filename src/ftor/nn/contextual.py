"""Embeddings of words in their contexts, from the vectors of a pretrained encoder."""

import torch
from torch import Tensor, nn

SPREAD = 0.4
"""The deviation of the numbers that are read, about that of word vectors."""


class ContextualEmbedding(nn.Module):
    """Vectors of a pretrained encoder, centred, scaled and mapped to the width of the model.

    Args:
        size: E, the size of the vectors.
        width: D, the size of the embeddings.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("deviation", torch.ones(()))
        self.projection = nn.Linear(size, width)

    @torch.no_grad()
    def fit(self, vectors: Tensor) -> None:
        """Take the mean, and the deviation around it, of the vectors (N, E) of training."""
        mean = vectors.mean(0)
        self.mean.copy_(mean)
        self.deviation.copy_((vectors - mean).std().clamp(min=1e-6))

    def forward(self, vectors: Tensor) -> Tensor:
        """The embeddings (…, D) of vectors (…, E)."""
        embedded: Tensor = self.projection((vectors - self.mean) * (SPREAD / self.deviation))
        return embedded


def given(vectors: Tensor | None) -> Tensor:
    """The vectors of a batch that is read by a network with a pretrained reader."""
    if vectors is None:
        raise ValueError("vectors: expected those of the pretrained reader, found None")
    return vectors
