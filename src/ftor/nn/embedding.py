"""Source embeddings from pretrained word vectors."""

import torch
from torch import Tensor, nn


class PretrainedEmbedding(nn.Module):
    """Word vectors, with a linear map if their size is not that of the model.

    Args:
        words: number of source ids.
        size: E, the size of the vectors.
        width: D, the size of the embeddings.
        trained: whether the vectors change in training; the map always does.
    """

    weight: Tensor
    moments: Tensor

    def __init__(self, words: int, size: int, width: int, trained: bool = False) -> None:
        super().__init__()
        table = torch.randn(words, size)
        if trained:
            self.weight = nn.Parameter(table)
        else:
            self.register_buffer("weight", table)
        # Mean and deviation of the numbers in the vectors' file, to draw the vectors of other words from.
        self.register_buffer("moments", torch.tensor([0.0, 1.0]))
        self.projection = nn.Linear(size, width) if size != width else nn.Identity()
        self._later: Tensor | None = None
        self._followers: list[PretrainedEmbedding] = []

    def lead(self, other: "PretrainedEmbedding") -> None:
        """Give another table of the same words whatever vectors this one is given."""
        self._followers.append(other)

    @torch.no_grad()
    def fill(self, vectors: Tensor, mean: float, deviation: float) -> None:
        """Set the vectors (words, E)."""
        self.weight.copy_(vectors)
        self.moments.copy_(torch.tensor([mean, deviation]))
        for other in self._followers:
            other.fill(vectors, mean, deviation)

    def add(self, vectors: Tensor) -> None:
        """Give the next ids to more words (W, E). They are not saved."""
        later = vectors if self._later is None else torch.cat([self._later, vectors])
        self._later = later.to(self.weight)
        for other in self._followers:
            other.add(vectors)

    def forget(self) -> None:
        """Forget the words of `add`."""
        self._later = None
        for other in self._followers:
            other.forget()

    def forward(self, ids: Tensor) -> Tensor:
        """The embeddings (…, D) of ids (…)."""
        table = self.weight if self._later is None else torch.cat([self.weight, self._later.to(self.weight)])
        embedded: Tensor = self.projection(nn.functional.embedding(ids, table))
        return embedded
