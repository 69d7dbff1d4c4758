"""Examples as tensors, and batches of them of similar length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import torch
from torch import Tensor

from ftor.data.copying import Copying
from ftor.data.emphasis import indicators
from ftor.data.reading import DataError, Pair
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
        emphasised: (B, n) e, 1 for the tokens to emphasise, else 0; None without emphasis.
    """

    source: Tensor
    source_lengths: Tensor
    target: Tensor
    target_lengths: Tensor
    copyable: Tensor | None
    aligned: Tensor | None
    rows: Tensor
    emphasised: Tensor | None = None

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
class Copies:
    """What copying the source tokens of a batch gives.

    Attributes:
        choices: (B, n) the choice that a copy of each source token is: its class, or else V + the first
            position of the same token; NO_CLASS if it cannot be copied.
        trained: (B, n) whether training makes copies of the choice, and not of its class.
    """

    choices: Tensor
    trained: Tensor


@dataclass(frozen=True)
class SourceBatch:
    """Some sources to predict from, padded to the longest.

    Attributes:
        source: (B, n) ids; `source_lengths` (B,).
        copies: None without copying.
        columns: (B, T + n) the choice of each terminal of a grammar, then of each source token as a copy;
            NO_CLASS if there is none. None without a grammar.
        emphasised: (B, n) e, 1 for the tokens to emphasise, else 0; None without emphasis.
    """

    source: Tensor
    source_lengths: Tensor
    copies: Copies | None = None
    columns: Tensor | None = None
    emphasised: Tensor | None = None

    def take(self, rows: Tensor) -> Self:
        """Some of the rows."""
        return self._map(lambda tensor: tensor[rows])

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        return self._map(lambda tensor: tensor.to(device))

    def as_trained(self, choices: Tensor) -> Tensor:
        """The classes that training would have had for `choices` (B,): COPY for what the source has."""
        if self.copies is None:
            return choices
        copied = ((self.copies.choices == choices[:, None]) & self.copies.trained).any(1)
        return choices.masked_fill(copied, COPY)

    def _map(self, change: Callable[[Tensor], Tensor]) -> Self:
        copies = self.copies and Copies(change(self.copies.choices), change(self.copies.trained))
        columns, emphasised = (
            None if tensor is None else change(tensor) for tensor in (self.columns, self.emphasised)
        )
        return type(self)(change(self.source), change(self.source_lengths), copies, columns, emphasised)


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
        copying: the rules of copies, the first target class; None without copying.
        start_token: whether a start position comes before each source.
        lowercase: whether source words are looked up in lower case.
    """

    def __init__(
        self,
        source: Sequence[str],
        target: Sequence[str],
        copying: Copying | None = None,
        start_token: bool = True,
        lowercase: bool = False,
    ) -> None:
        self.source = Vocabulary(source, SOURCE_SPECIALS)
        self.target = Vocabulary(target, specials=int(copying is not None))
        self.copying, self.start_token, self.lowercase = copying, start_token, lowercase
        if copying is not None:
            # What copies of a token with this key are called; of tokens that share it, the first.
            self._classes_by_key = {
                copying.key(token): self.target.get(token, NO_CLASS)
                for token in reversed(self.target.tokens)
                if not copying.any_case or token not in copying.never
            }

    @classmethod
    def of(
        cls,
        pairs: Sequence[Pair],
        copying: Copying | None = None,
        start_token: bool = True,
        lowercase: bool = False,
        terminals: Sequence[str] = (),
    ) -> Self:
        """All tokens of training pairs, and a grammar's terminals.

        With copying into an open vocabulary, what is a copy wherever it occurs is no class, unless it is a
        terminal. A closed one has classes for all, because nothing else can be copied.
        """
        own = []
        for pair in pairs:
            keys = copying.keys(pair.source) if copying else ()
            own.append([t for t in pair.target if copying is None or not copying.is_copy(t, keys)])
        sources = (tuple(map(str.lower, pair.source)) if lowercase else pair.source for pair in pairs)
        source = Vocabulary.of(sources, 0).tokens
        copied = [pair.target for pair in pairs] if copying and not copying.open else []
        target = Vocabulary.of([*own, terminals, *copied], 0).tokens
        return cls(source, target, copying, start_token, lowercase)

    def word(self, token: str) -> str:
        """How a source token is looked up."""
        return token.lower() if self.lowercase else token

    def source_ids(self, tokens: Sequence[str]) -> list[int]:
        """The ids of a source, its start position included."""
        start = [START] if self.start_token else []
        return start + [self.source.get(self.word(token), UNKNOWN) for token in tokens]

    def target_classes(self, source: Sequence[str], target: Sequence[str]) -> list[int]:
        """The class of each target token: COPY if training takes it for a copy, else its own."""
        keys = self.copying.keys(source) if self.copying else ()
        return [
            COPY if self.copying and self.copying.is_copy(token, keys) else self.target.get(token, NO_CLASS)
            for token in target
        ]

    def output(self, choices: Sequence[int], source: Sequence[str]) -> tuple[str, ...]:
        """The tokens of an output; choice V + i is the i-th token of `source`, its start included."""
        classes = len(self.target)
        return tuple(
            self.target.token(choice) if choice < classes else source[choice - classes] for choice in choices
        )

    def emphasised(
        self, sources: Sequence[Sequence[str]], words: Sequence[str | None] | None
    ) -> Ragged | None:
        """Which tokens of each source, its start position included, are the word to emphasise."""
        if words is None or all(word is None for word in words):
            return None
        start = [0] if self.start_token else []
        rows = zip(sources, words, strict=True)
        return Ragged([start + indicators(tokens, word) for tokens, word in rows])

    def source_batch(
        self,
        sources: Sequence[Sequence[str]],
        terminals: Sequence[str] | None = None,
        emphasis: Sequence[str | None] | None = None,
    ) -> SourceBatch:
        """Sources to predict from.

        Args:
            sources: their tokens.
            terminals: those of the grammar that outputs will derive from.
            emphasis: the word to emphasise of each source.
        """
        rows = torch.arange(len(sources))
        ids = Ragged([self.source_ids(tokens) for tokens in sources])
        copies = None
        if self.copying is not None:
            choices = [self._copies(tokens) for tokens in sources]
            never = {self.target.get(token, NO_CLASS) for token in self.copying.never}
            trained = [[int(choice not in never) for choice in row] for row in choices]
            copies = Copies(
                Ragged(choices).padded(rows, padding=NO_CLASS), Ragged(trained).padded(rows, padding=0).bool()
            )
        columns = None
        if terminals is not None:
            columns = self._columns(sources, terminals, copies)
        emphasised = self.emphasised(sources, emphasis)
        return SourceBatch(
            ids.padded(rows, padding=PAD),
            ids.lengths,
            copies,
            columns,
            None if emphasised is None else emphasised.padded(rows, padding=0),
        )

    def _copies(self, tokens: Sequence[str]) -> list[int]:
        """What a copy of each token is; the start position is copied by nothing."""
        assert self.copying is not None
        choices = [NO_CLASS] if self.start_token else []
        places: dict[str, int] = {}
        for token in tokens:
            place = places.setdefault(token, len(choices))
            new = len(self.target) + place if self.copying.open else NO_CLASS
            own = self.target.get(token, NO_CLASS)
            choices.append(own if own != NO_CLASS else self._classes_by_key.get(self.copying.key(token), new))
        return choices

    def spelled(self, tokens: Sequence[str]) -> list[str]:
        """How copies of source tokens are written: as the class that they are, or else as they are."""
        if self.copying is None:
            return []
        copies = self._copies(tokens)[int(self.start_token) :]
        is_class = [NO_CLASS < copy < len(self.target) for copy in copies]
        rows = zip(tokens, copies, is_class, strict=True)
        return [self.target.token(copy) if known else token for token, copy, known in rows]

    def _columns(
        self, sources: Sequence[Sequence[str]], terminals: Sequence[str], copies: Copies | None
    ) -> Tensor:
        """See `SourceBatch.columns`; a terminal that is no class may still be a word of the source."""
        classes = torch.tensor(
            [self.target.get(terminal, NO_CLASS) for terminal in terminals], dtype=torch.int64
        )
        columns = classes.repeat(len(sources), 1)
        if copies is None:
            return columns
        numbers = {terminal: number for number, terminal in enumerate(terminals)}
        for row, tokens in enumerate(sources):
            for place, token in enumerate(tokens, int(self.start_token)):
                number = numbers.get(token)
                if number is not None and columns[row, number] == NO_CLASS:
                    columns[row, number] = copies.choices[row, place]
        return torch.cat([columns, copies.choices], 1)


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
        sources, targets = zip(*map(self._numbers, pairs), strict=True) if pairs else ([], [])
        self.source, self.target = Ragged(sources), Ragged(targets)
        self._emphasised = vocabularies.emphasised([p.source for p in pairs], [p.emphasis for p in pairs])
        if vocabularies.copying is not None:
            numbers: dict[str, int] = {}
            key, start = vocabularies.copying.key, [NO_STRING] if vocabularies.start_token else []
            self._source_strings = _numbered([p.source for p in pairs], key, start, numbers)
            self._target_strings = _numbered([p.target for p in pairs], key, [], numbers)

    def _numbers(self, pair: Pair) -> tuple[list[int], list[int]]:
        """Both sides of a pair, or an error that names its line."""
        try:
            return self.vocabularies.source_ids(pair.source), self.vocabularies.target_classes(
                pair.source, pair.target
            )
        except DataError as error:
            raise DataError(f"line {pair.line}: {error}") from None

    def __len__(self) -> int:
        return len(self.pairs)

    def batch(self, rows: Tensor, with_alignments: bool = False) -> Batch:
        """The examples at `rows` (B,), if asked with the alignments that are wanted of them."""
        copyable = aligned = None
        if self.vocabularies.copying is not None:
            source_strings = self._source_strings.padded(rows, padding=NO_STRING)
            target_strings = self._target_strings.padded(rows, padding=NO_STRING - 1)
            copyable = source_strings[:, :, None] == target_strings[:, None, :]
        source, target = self.source.padded(rows, padding=PAD), self.target.padded(rows, padding=0)
        if with_alignments and self._aligned is not None:
            aligned = torch.zeros(len(rows), source.shape[1], target.shape[1], dtype=torch.bool)
            for place, row in enumerate(rows.tolist()):
                for i, j in self._aligned[row]:
                    aligned[place, i, j] = True
        emphasised = None if self._emphasised is None else self._emphasised.padded(rows, padding=0)
        lengths = self.source.lengths[rows], self.target.lengths[rows]
        return Batch(source, lengths[0], target, lengths[1], copyable, aligned, rows, emphasised)


def _numbered(
    sentences: Sequence[Sequence[str]], key: Callable[[str], str], start: list[int], numbers: dict[str, int]
) -> Ragged:
    """A number for every token, the same for the same key, after `start`; `numbers` remembers them."""
    return Ragged(
        [start + [numbers.setdefault(key(token), len(numbers)) for token in tokens] for tokens in sentences]
    )


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
