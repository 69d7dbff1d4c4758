"""Examples as tensors, and batches of them of similar length."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from ftor.data.reading import Pair
from ftor.data.vocabulary import COPY, SOURCE_SPECIALS, START, UNKNOWN, Vocabulary

NO_CLASS = -1
"""The target class of a token that the vocabulary lacks."""


@dataclass(frozen=True)
class Batch:
    """Some examples, padded to the longest.

    Attributes:
        source: (B, n) ids; `source_lengths` (B,).
        target: (B, L) classes, NO_CLASS for what the vocabulary lacks; `target_lengths` (B,).
        copyable: (B, n, L) whether the target token is a copy of the source token; None without copying.
        aligned: (B, n, L) whether the alignment warm-up wants the pair; None without it.
        rows: (B,) the examples' places in their dataset.
    """

    source: Tensor
    source_lengths: Tensor
    target: Tensor
    target_lengths: Tensor
    copyable: Tensor | None
    aligned: Tensor | None
    rows: Tensor

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self)(**{name: v if v is None else v.to(device) for name, v in values.items()})


class Ragged:
    """Sequences of different lengths, one after the other in one tensor."""

    def __init__(self, sequences: Sequence[Sequence[int]]) -> None:
        self.lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.int64)
        self._starts = self.lengths.cumsum(0) - self.lengths
        self._flat = torch.tensor([value for sequence in sequences for value in sequence], dtype=torch.int64)

    def padded(self, rows: Tensor, padding: int) -> Tensor:
        """The sequences of `rows` (B,), padded to the longest: (B, L)."""
        lengths = self.lengths[rows]
        positions = torch.arange(int(lengths.max()))
        inside = positions < lengths[:, None]
        places = (self._starts[rows][:, None] + positions).masked_fill(~inside, 0)
        return self._flat[places].masked_fill(~inside, padding)


class Vocabularies:
    """The source vocabulary and the target classes of a model.

    Args:
        source, target: their tokens.
        copying: whether the first target class is "a copy of a source token".
        start_token: whether a start position comes before each source.
    """

    def __init__(self, source: Sequence[str], target: Sequence[str], copying: bool, start_token: bool) -> None:
        self.source = Vocabulary(source, SOURCE_SPECIALS)
        self.target = Vocabulary(target, specials=int(copying))
        self.copying, self.start_token = copying, start_token

    @classmethod
    def of(cls, pairs: Sequence[Pair], copying: bool, start_token: bool) -> Self:
        """All tokens of training pairs; with copying, no class for what is a copy wherever it occurs."""
        source = Vocabulary.of((pair.source for pair in pairs), 0).tokens
        own = (
            [token for token in pair.target if not (copying and token in pair.source)] for pair in pairs
        )
        return cls(source, Vocabulary.of(own, 0).tokens, copying, start_token)

    def source_ids(self, tokens: Sequence[str]) -> list[int]:
        """The ids of a source, its start position included."""
        start = [START] if self.start_token else []
        return start + [self.source.get(token, UNKNOWN) for token in tokens]

    def target_classes(self, source: Sequence[str], target: Sequence[str]) -> list[int]:
        """The class of each target token: COPY if the model copies and the source has it, else its own."""
        return [
            COPY if self.copying and token in source else self.target.get(token, NO_CLASS) for token in target
        ]


class Dataset:
    """Pairs as tensors.

    Args:
        pairs: the examples.
        vocabularies: what numbers their tokens.
        aligned: for each pair the (source position, target position) that the alignment warm-up wants.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        vocabularies: Vocabularies,
        aligned: Sequence[Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        self.pairs, self.vocabularies, self._aligned = list(pairs), vocabularies, aligned
        self.source = Ragged([vocabularies.source_ids(pair.source) for pair in pairs])
        self.target = Ragged([vocabularies.target_classes(pair.source, pair.target) for pair in pairs])
        if vocabularies.copying:
            strings: dict[str, int] = {}
            start = [-2] if vocabularies.start_token else []  # like no token of any text
            self._source_strings = Ragged(
                [start + [strings.setdefault(t, len(strings)) for t in pair.source] for pair in pairs]
            )
            self._target_strings = Ragged(
                [[strings.setdefault(t, len(strings)) for t in pair.target] for pair in pairs]
            )

    def __len__(self) -> int:
        return len(self.pairs)

    def batch(self, rows: Tensor) -> Batch:
        """The examples at `rows` (B,)."""
        copyable = aligned = None
        if self.vocabularies.copying:
            source_strings = self._source_strings.padded(rows, padding=-2)
            target_strings = self._target_strings.padded(rows, padding=-1)
            copyable = source_strings[:, :, None] == target_strings[:, None, :]
        source, target = self.source.padded(rows, padding=0), self.target.padded(rows, padding=0)
        if self._aligned is not None:
            aligned = torch.zeros(len(rows), source.shape[1], target.shape[1], dtype=torch.bool)
            for place, row in enumerate(rows.tolist()):
                for i, j in self._aligned[row]:
                    aligned[place, i, j] = True
        return Batch(
            source, self.source.lengths[rows], target, self.target.lengths[rows], copyable, aligned, rows
        )


def bucketed(lengths: Tensor, batch_size: int, noise: float, generator: torch.Generator) -> list[Tensor]:
    """Cut examples into batches of similar lengths, in random order.

    Args:
        lengths: (N,) by which examples are sorted, each first multiplied by 1 ± `noise`.
        generator: decides the noise and the order; the same state gives the same batches.

    Returns:
        The rows of each batch; the last rows make a smaller one.
    """
    blurred = lengths * (1 + noise * (2 * torch.rand(len(lengths), generator=generator) - 1))
    batches = blurred.argsort(stable=True).split(batch_size)
    return [batches[place] for place in torch.randperm(len(batches), generator=generator)]
