"""Batches: some examples as padded tensors, and how examples are cut into batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch
from torch import Tensor

from ftor.text.vocabulary import SOURCE_SPECIALS, UNKNOWN

NO_CLASS = -1
"""The target class of a token that is not in the vocabulary."""
NO_STRING = -1
"""The string number of the start position and of padding. They are not copies of anything."""


@dataclass(frozen=True)
class Batch:
    """A batch of pairs to train on, padded to the longest.

    Attributes:
        source: (B, n) ids.
        source_lengths: (B,).
        target: (B, L) classes. NO_CLASS for a token that is not in the vocabulary.
        target_lengths: (B,).
        copyable: (B, n, L) whether the target token is a copy of the source token, or of as many from it
            on as its class says. None without copying.
        aligned: (B, n, L) whether the alignment warm-up aligns the two tokens. None without warm-up.
        rows: (B,) the numbers of the pairs in their `EncodedPairs`.
        emphasised: (B, n) e, 1 for the tokens to emphasise, else 0. None without emphasis.
        aligns_fertilities: whether the warm-up also teaches fertilities.
        vectors: (B, n, E) of source tokens in their context; of their pieces (B, P, 2·E), if layers of the
            pretrained reader are trained. None without a pretrained reader.
        piece_positions: (B, P) the source position of each piece. None without pieces.
        copy_classes: how many target classes, from the first, stand for copies. Ignored without copying.
    """

    source: Tensor
    source_lengths: Tensor
    target: Tensor
    target_lengths: Tensor
    copyable: Tensor | None
    aligned: Tensor | None
    rows: Tensor
    emphasised: Tensor | None = None
    aligns_fertilities: bool = False
    vectors: Tensor | None = None
    piece_positions: Tensor | None = None
    copy_classes: int = 1

    def with_unknown_words(self, share: float) -> Self:
        """The same batch with a random share of the source words replaced by UNKNOWN."""
        if not share:
            return self
        unknown = (torch.rand(self.source.shape) < share) & (self.source >= SOURCE_SPECIALS)
        return replace(self, source=self.source.masked_fill(unknown, UNKNOWN))

    def to(self, device: torch.device) -> Self:
        """The same batch on another device."""
        moved: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **moved)


@dataclass(frozen=True)
class Copies:
    """The copies of the source tokens of a batch, C of each: of the token itself, with the next one, ….

    Attributes:
        choices: (B, n·C) the choice that each copy is: its class, or else V + the first place of the same
            copy. NO_CLASS if there is no such copy.
        trained: (B, n·C) whether training treats this choice as a copy.
    """

    choices: Tensor
    trained: Tensor


@dataclass(frozen=True)
class SourceBatch:
    """A batch of sources to predict from, padded to the longest.

    Attributes:
        source: (B, n) ids.
        source_lengths: (B,).
        copies: the copies of the source tokens. None without copying.
        columns: (B, T + n·C) the choice of each terminal of a grammar, then of the copies of source tokens.
            NO_CLASS if there is none. None without a grammar.
        emphasised: (B, n) e, 1 for the tokens to emphasise, else 0. None without emphasis.
        vectors: (B, n, E) of source tokens in their context; of their pieces (B, P, 2·E), if layers of the
            pretrained reader are trained. None without a pretrained reader.
        piece_positions: (B, P) the source position of each piece. None without pieces.
    """

    source: Tensor
    source_lengths: Tensor
    copies: Copies | None = None
    columns: Tensor | None = None
    emphasised: Tensor | None = None
    vectors: Tensor | None = None
    piece_positions: Tensor | None = None

    def take(self, rows: Tensor) -> Self:
        """The given rows of the batch."""
        return self._map(lambda tensor: tensor[rows])

    def to(self, device: torch.device) -> Self:
        """The same batch on another device."""
        return self._map(lambda tensor: tensor.to(device))

    def as_trained(self, choices: Tensor) -> Tensor:
        """The classes that training would use for `choices` (B,): those of copies for source tokens."""
        if self.copies is None:
            return choices
        copied = (self.copies.choices == choices[:, None]) & self.copies.trained
        kinds = copied.view(*self.source.shape, -1).any(1)  # copies of one token, of two, …
        return torch.where(copied.any(1), kinds.long().argmax(1), choices)

    def _map(self, change: Callable[[Tensor], Tensor]) -> Self:
        copies = self.copies and Copies(change(self.copies.choices), change(self.copies.trained))
        others = (
            None if tensor is None else change(tensor)
            for tensor in (self.columns, self.emphasised, self.vectors, self.piece_positions)
        )
        return type(self)(change(self.source), change(self.source_lengths), copies, *others)


class Ragged:
    """Sequences of different lengths, concatenated in one tensor."""

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


def bounded(lengths: Tensor, batch_size: int, max_cost: float) -> list[Tensor]:
    """Cut examples into batches of similar lengths l, with at most `batch_size` rows and Σ l³ ≤ `max_cost`.

    Each row counts with the longest l of its batch. An example that exceeds `max_cost` is a batch of its own.
    """
    batches: list[list[int]] = []
    for row in lengths.argsort(stable=True).tolist():
        cost = int(lengths[row]) ** 3
        if batches and len(batches[-1]) < batch_size and (len(batches[-1]) + 1) * cost <= max_cost:
            batches[-1].append(row)
        else:
            batches.append([row])
    return [torch.tensor(rows) for rows in batches]


def bucketed(lengths: Tensor, batch_size: int, noise: float, generator: torch.Generator) -> list[Tensor]:
    """Cut examples into batches of similar lengths, in random order.

    Args:
        lengths: (N,) lengths of the examples.
        batch_size: number of rows of a batch. The last batch may be smaller.
        noise: each length is first multiplied by a random factor in 1 ± `noise`.
        generator: draws the noise and the order. The same state gives the same batches.

    Returns:
        The rows of each batch.
    """
    blurred = lengths * (1 + noise * (2 * torch.rand(len(lengths), generator=generator) - 1))
    batches = torch.split(blurred.argsort(stable=True), batch_size)
    return [batches[place] for place in torch.randperm(len(batches), generator=generator)]
