"""Examples as tensors, and batches of them of similar length."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch
from torch import Tensor

from ftor.data.reading import Pair
from ftor.data.vocabulary import COPY, PAD, SOURCE_SPECIALS, START, UNKNOWN, Vocabulary

NO_CLASS = -1
"""The target class of a token that the vocabulary lacks."""
NO_STRING = -1
"""The start position and padding, which are copies of nothing."""


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

    def with_unknown_words(self, share: float) -> Self:
        """The same with a share of the source words, drawn at random, unknown."""
        if not share:
            return self
        unknown = (torch.rand(self.source.shape) < share) & (self.source >= SOURCE_SPECIALS)
        return replace(self, source=self.source.masked_fill(unknown, UNKNOWN))

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        moved: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        }
        return replace(self, **moved)


@dataclass(frozen=True)
class SourceBatch:
    """Some sources to predict from, padded to the longest.

    Attributes:
        source: (B, n) ids; `source_lengths` (B,).
        copies: None without copying; else the class of each source token, NO_CLASS if it has none, (B, n),
            and which source tokens are the same and may be copied, (B, n, n).
    """

    source: Tensor
    source_lengths: Tensor
    copies: tuple[Tensor, Tensor] | None

    def take(self, rows: Tensor) -> Self:
        """Some of the rows."""
        copies = None if self.copies is None else (self.copies[0][rows], self.copies[1][rows])
        return type(self)(self.source[rows], self.source_lengths[rows], copies)

    def as_trained(self, choices: Tensor, classes: int) -> Tensor:
        """The classes that training would have had for `choices` (B,): whatever the source has is a copy."""
        if self.copies is None:
            return choices
        own, same = self.copies
        copyable = same.any(1)
        is_source_token = ((own == choices[:, None]) & copyable).any(1) | (choices >= classes)
        return choices.masked_fill(is_source_token, COPY)

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        copies = None if self.copies is None else (self.copies[0].to(device), self.copies[1].to(device))
        return type(self)(self.source.to(device), self.source_lengths.to(device), copies)


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

    def __init__(
        self, source: Sequence[str], target: Sequence[str], copying: bool, start_token: bool
    ) -> None:
        self.source = Vocabulary(source, SOURCE_SPECIALS)
        self.target = Vocabulary(target, specials=int(copying))
        self.copying, self.start_token = copying, start_token

    @classmethod
    def of(cls, pairs: Sequence[Pair], copying: bool, start_token: bool) -> Self:
        """All tokens of training pairs; with copying, no class for what is a copy wherever it occurs."""
        source = Vocabulary.of((pair.source for pair in pairs), 0).tokens
        own = ([token for token in pair.target if not (copying and token in pair.source)] for pair in pairs)
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

    def source_batch(self, sources: Sequence[Sequence[str]]) -> SourceBatch:
        """Sources to predict from."""
        rows = torch.arange(len(sources))
        ids = Ragged([self.source_ids(tokens) for tokens in sources])
        copies = None
        if self.copying:
            start = [NO_CLASS] if self.start_token else []
            classes = Ragged([start + [self.target.get(t, NO_CLASS) for t in tokens] for tokens in sources])
            strings = _strings(sources, self.start_token, {}).padded(rows, padding=NO_STRING)
            same = (strings[:, :, None] == strings[:, None, :]) & (strings != NO_STRING)[:, None, :]
            copies = classes.padded(rows, padding=NO_CLASS), same
        return SourceBatch(ids.padded(rows, padding=PAD), ids.lengths, copies)


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
            numbers: dict[str, int] = {}
            self._source_strings = _strings([p.source for p in pairs], vocabularies.start_token, numbers)
            self._target_strings = _strings([p.target for p in pairs], False, numbers)

    def __len__(self) -> int:
        return len(self.pairs)

    def batch(self, rows: Tensor, with_alignments: bool = False) -> Batch:
        """The examples at `rows` (B,), if asked with the alignments that are wanted of them."""
        copyable = aligned = None
        if self.vocabularies.copying:
            source_strings = self._source_strings.padded(rows, padding=NO_STRING)
            target_strings = self._target_strings.padded(rows, padding=NO_STRING - 1)
            copyable = source_strings[:, :, None] == target_strings[:, None, :]
        source, target = self.source.padded(rows, padding=PAD), self.target.padded(rows, padding=0)
        if with_alignments and self._aligned is not None:
            aligned = torch.zeros(len(rows), source.shape[1], target.shape[1], dtype=torch.bool)
            for place, row in enumerate(rows.tolist()):
                for i, j in self._aligned[row]:
                    aligned[place, i, j] = True
        return Batch(
            source, self.source.lengths[rows], target, self.target.lengths[rows], copyable, aligned, rows
        )


def _strings(sentences: Sequence[Sequence[str]], start_token: bool, numbers: dict[str, int]) -> Ragged:
    """A number for every string, the same for the same string; `numbers` remembers them."""
    start = [NO_STRING] if start_token else []
    return Ragged([start + [numbers.setdefault(t, len(numbers)) for t in tokens] for tokens in sentences])


def bounded(lengths: Tensor, batch_size: int, most: float) -> list[Tensor]:
    """Cut examples into batches of similar lengths, each of at most `batch_size` and with Σ l³ ≤ `most`.

    Every length counts as the longest of its batch; an example that is too long is a batch by itself.
    """
    batches: list[list[int]] = []
    for row in lengths.argsort(stable=True).tolist():
        cost = int(lengths[row]) ** 3
        if batches and len(batches[-1]) < batch_size and (len(batches[-1]) + 1) * cost <= most:
            batches[-1].append(row)
        else:
            batches.append([row])
    return [torch.tensor(rows) for rows in batches]


def bucketed(lengths: Tensor, batch_size: int, noise: float, generator: torch.Generator) -> list[Tensor]:
    """Cut examples into batches of similar lengths, in random order.

    Args:
        lengths: (N,) by which examples are sorted, each first multiplied by 1 ± `noise`.
        generator: decides the noise and the order; the same state gives the same batches.

    Returns:
        The rows of each batch; the last rows make a smaller one.
    """
    blurred = lengths * (1 + noise * (2 * torch.rand(len(lengths), generator=generator) - 1))
    batches = torch.split(blurred.argsort(stable=True), batch_size)
    return [batches[place] for place in torch.randperm(len(batches), generator=generator)]
