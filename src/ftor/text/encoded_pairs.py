"""Pairs as tensors, from which training takes batches."""

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor

from ftor.text.batches import NO_STRING, Batch, Ragged
from ftor.text.reading import DataError, Pair
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import PAD


class EncodedPairs:
    """Pairs as tensors.

    Args:
        pairs: the pairs.
        vocabularies: give the ids and classes of the tokens.
        aligned: for each pair, the (source position, target position) that the alignment warm-up aligns.
        align_fertilities: whether the warm-up also teaches fertilities.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        vocabularies: Vocabularies,
        aligned: Sequence[Sequence[tuple[int, int]]] | None = None,
        align_fertilities: bool = False,
    ) -> None:
        self.pairs, self.vocabularies, self._aligned = list(pairs), vocabularies, aligned
        self._align_fertilities = align_fertilities
        sources, targets = zip(*map(self._numbers, pairs), strict=True) if pairs else ([], [])
        self.source, self.target = Ragged(sources), Ragged(targets)
        self._emphasised = vocabularies.emphasised([p.source for p in pairs], [p.emphasis for p in pairs])
        if vocabularies.copying is not None:
            numbers: dict[str, int] = {}
            copying = vocabularies.copying
            start = [NO_STRING] * (copying.kinds if vocabularies.start_token else 0)
            copies = [copying.written(pair.source) for pair in pairs]
            self._source_strings = _numbered(copies, copying.key, start, numbers)
            self._target_strings = _numbered([p.target for p in pairs], copying.key, [], numbers)

    def _numbers(self, pair: Pair) -> tuple[list[int], list[int]]:
        """The ids and classes of a pair. An error names its line."""
        try:
            return self.vocabularies.source_ids(pair.source), self.vocabularies.target_classes(
                pair.source, pair.target
            )
        except DataError as error:
            raise DataError(f"line {pair.line}: {error}") from None

    def __len__(self) -> int:
        return len(self.pairs)

    def lengths(self, side: Literal["source", "target"]) -> Tensor:
        """The number of tokens (N,) on one side of each pair."""
        return (self.source if side == "source" else self.target).lengths

    def batch(self, rows: Tensor, with_alignments: bool = False) -> Batch:
        """The batch of the pairs with the numbers `rows` (B,)."""
        copyable = aligned = None
        source, target = self.source.padded(rows, padding=PAD), self.target.padded(rows, padding=0)
        if self.vocabularies.copying is not None:
            kinds = self.vocabularies.copy_classes
            source_strings = self._source_strings.padded(rows, padding=NO_STRING)
            target_strings = self._target_strings.padded(rows, padding=NO_STRING - 1)
            # By the class of each target: copies of one token, of two, …, of inflected forms.
            kind = target.clamp(min=0, max=kinds - 1)[:, None, :].expand(-1, source.shape[1], -1)
            strings = source_strings.view(*source.shape, kinds).gather(2, kind)
            copyable = strings == target_strings[:, None, :]
        if with_alignments and self._aligned is not None:
            aligned = torch.zeros(len(rows), source.shape[1], target.shape[1], dtype=torch.bool)
            for place, row in enumerate(rows.tolist()):
                for i, j in self._aligned[row]:
                    aligned[place, i, j] = True
        emphasised = None if self._emphasised is None else self._emphasised.padded(rows, padding=0)
        lengths = self.source.lengths[rows], self.target.lengths[rows]
        tensors = source, lengths[0], target, lengths[1], copyable, aligned, rows, emphasised
        reader, start = self.vocabularies.reader, self.vocabularies.start_token
        read: tuple[Tensor | None, Tensor | None] = None, None
        if reader is not None:
            read = reader.batch([self.pairs[row].source for row in rows.tolist()], start)
        return Batch(*tensors, self._align_fertilities, *read, max(self.vocabularies.copy_classes, 1))


def _numbered(
    sentences: Sequence[Sequence[str | None]],
    key: Callable[[str], str],
    start: list[int],
    numbers: dict[str, int],
) -> Ragged:
    """Number the tokens so that equal keys have equal numbers. `numbers` is updated."""

    def number(token: str | None) -> int:
        return NO_STRING if token is None else numbers.setdefault(key(token), len(numbers))

    return Ragged([[*start, *map(number, tokens)] for tokens in sentences])
