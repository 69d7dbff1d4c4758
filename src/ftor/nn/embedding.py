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
        for table in self._led():
            table.weight.copy_(vectors)
            table.moments.copy_(torch.tensor([mean, deviation]))

    def add(self, vectors: Tensor) -> None:
        """Give the next ids to more words (W, E). They are not saved."""
        for table in self._led():
            later = vectors if table._later is None else torch.cat([table._later, vectors.to(table._later)])
            table._later = later.to(table.weight)

    def forget(self) -> None:
        """Forget the words of `add`."""
        for table in self._led():
            table._later = None

    def _led(self) -> list["PretrainedEmbedding"]:
        """The table and those that follow it, each once."""
        found: dict[PretrainedEmbedding, None] = {}
        waiting = [self]
        while waiting:
            table = waiting.pop()
            if table not in found:
                found[table] = None
                waiting += table._followers
        return list(found)

    def forward(self, ids: Tensor) -> Tensor:
        """The embeddings (…, D) of ids (…)."""
        table = self.weight if self._later is None else torch.cat([self.weight, self._later.to(self.weight)])
        embedded: Tensor = self.projection(nn.functional.embedding(ids, table))
        return embedded
