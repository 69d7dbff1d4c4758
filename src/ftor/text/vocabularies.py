"""The vocabularies of a model: from tokens to ids and classes, and from outputs back to tokens."""

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor

from ftor.text.batches import NO_CLASS, Copies, Ragged, SourceBatch
from ftor.text.copying import Copying
from ftor.text.emphasis import indicators
from ftor.text.readers import Reader
from ftor.text.reading import DataError, Pair
from ftor.text.vocabulary import PAD, SOURCE_SPECIALS, START, UNKNOWN, Vocabulary


class Vocabularies:
    """The source vocabulary and the target classes of a model.

    Args:
        source, target: the tokens.
        copying: the copy rules. The first target class then stands for a copy of a token, the next for one of
            two tokens in a row or of an inflected form, and so on, if there are such copies. None without
            copying.
        start_token: whether a start position comes before each source.
        lowercase: whether source words are lowercased to look them up.

    Attributes:
        reader: gives the vectors of source tokens in their context. None without a pretrained reader.
        guessed: words of `source` that training did not have, with random vectors.
    """

    reader: Reader | None = None

    def __init__(
        self,
        source: Sequence[str],
        target: Sequence[str],
        copying: Copying | None = None,
        start_token: bool = True,
        lowercase: bool = False,
    ) -> None:
        self.source = Vocabulary(source, SOURCE_SPECIALS)
        self.copy_classes = 0 if copying is None else copying.kinds
        self.target = Vocabulary(target, specials=self.copy_classes)
        self.copying, self.start_token, self.lowercase = copying, start_token, lowercase
        self.guessed: set[str] = set()
        if copying is not None:
            # The class of a copied token, by its key. If classes share a key, the first counts.
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
        """The vocabularies of training pairs, and of the terminals of a grammar.

        With open copying, a target token that is always a copy is not a class, unless it is a terminal. With
        closed copying every target token is a class, because only classes can be copied.
        """
        not_copied = []
        for pair in pairs:
            keys = copying.keys(pair.source) if copying else {}
            not_copied.append([t for t in pair.target if copying is None or not copying.is_copy(t, keys)])
        sources = (tuple(map(str.lower, pair.source)) if lowercase else pair.source for pair in pairs)
        source = Vocabulary.of(sources, 0).tokens
        copied = [pair.target for pair in pairs] if copying and not copying.open else []
        target = Vocabulary.of([*not_copied, terminals, *copied], 0).tokens
        return cls(source, target, copying, start_token, lowercase)

    def word(self, token: str) -> str:
        """The word that a source token is looked up as."""
        return token.lower() if self.lowercase else token

    def source_ids(self, tokens: Sequence[str]) -> list[int]:
        """The ids of a source, with its start position."""
        start = [START] if self.start_token else []
        return start + [self.source.get(self.word(token), UNKNOWN) for token in tokens]

    def unknown(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """The source tokens that are no words of training and have no pretrained vectors, each once."""
        words = ((token, self.word(token)) for token in tokens)
        return tuple(
            dict.fromkeys(token for token, word in words if word not in self.source or word in self.guessed)
        )

    def foreign(self, tokens: Sequence[str], output: Sequence[str]) -> tuple[str, ...]:
        """The unknown source tokens that an output does not copy. A pretrained encoder reads all tokens."""
        if self.reader is not None:
            return ()
        unknown = self.unknown(tokens)
        if self.copying is None or not unknown:
            return unknown
        copied = zip(output, self.copied(tokens, output), strict=True)
        copies = {self.copying.key(token) for token, is_copy in copied if is_copy}
        read: set[str] = set()
        for place, written in enumerate(self.copying.written(tokens)):
            if written is not None and self.copying.key(written) in copies:
                first, kind = divmod(place, self.copying.kinds)
                read.update(tokens[first : first + self.copying.words_of(kind)])
        return tuple(token for token in unknown if token not in read)

    def target_classes(self, source: Sequence[str], target: Sequence[str]) -> list[int]:
        """The class of each target token: that of a copy if training treats it as one, else its own."""
        keys = self.copying.keys(source) if self.copying else {}
        return [
            keys[self.copying.key(token)]
            if self.copying and self.copying.is_copy(token, keys)
            else self.target.get(token, NO_CLASS)
            for token in target
        ]

    def copied(self, source: Sequence[str], output: Sequence[str]) -> tuple[bool, ...]:
        """Whether each output token is a copy of a source token. Empty if the model never copies."""
        if self.copying is None:
            return ()
        keys = self.copying.keys(source)
        return tuple(self.copying.is_copy(token, keys) for token in output)

    def output(self, choices: Sequence[int], source: Sequence[str]) -> tuple[str, ...]:
        """The tokens of an output. Choice V + i is the i-th copy of tokens of `source`, with its start."""
        classes = len(self.target)
        written = [] if max(choices, default=0) < classes else self._written(source)
        return tuple(
            self.target.token(choice) if choice < classes else str(written[choice - classes])
            for choice in choices
        )

    def choices(self, output: Sequence[str], source: Sequence[str]) -> list[int]:
        """The choices that write an output: the opposite of `output`. `source` has no start token.

        Raises:
            DataError: if it has a token that is neither a class nor a copy of a source token.
        """
        written = self._written(source)
        copies = zip(written, self._copies(source)[-len(written) :] if written else [], strict=True)
        copied = {token: choice for token, choice in copies if choice >= len(self.target)}
        choices = []
        for token in output:
            choice = self.target.get(token, copied.get(token, NO_CLASS))
            if choice == NO_CLASS:
                copy = " and is no word of the sentence that can be copied" if self.copying else ""
                raise DataError(f"{token!r} is not in the vocabulary of outputs{copy}")
            choices.append(choice)
        return choices

    def pieces(self, choices: Sequence[int], output: Sequence[str]) -> tuple[str, ...]:
        """What is written by each of the choices of an output: its tokens."""
        return tuple(output)

    def emphasised(
        self, sources: Sequence[Sequence[str]], words: Sequence[str | None] | None
    ) -> Ragged | None:
        """For each source, with its start position: 1 for the word to emphasise, else 0."""
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
        """A batch of sources to predict from.

        Args:
            sources: their tokens.
            terminals: the terminals of the grammar that constrains the outputs, if any.
            emphasis: the word to emphasise of each source, if any.
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
            *(() if self.reader is None else self.reader.batch(sources, self.start_token)),
        )

    def _copies(self, tokens: Sequence[str]) -> list[int]:
        """The choice that each copy of tokens is. The start position cannot be copied."""
        assert self.copying is not None
        choices = [NO_CLASS] * (self.copy_classes if self.start_token else 0)
        places: dict[str, int] = {}
        for token in self.copying.written(tokens):
            if token is None:
                choices.append(NO_CLASS)
                continue
            place = places.setdefault(token, len(choices))
            choice = self.target.get(token, NO_CLASS)
            if choice == NO_CLASS:
                by_place = len(self.target) + place if self.copying.open else NO_CLASS
                choice = self._classes_by_key.get(self.copying.key(token), by_place)
            choices.append(choice)
        return choices

    def _written(self, tokens: Sequence[str]) -> list[str | None]:
        """What copies of source tokens are written as; see `Copying.written`."""
        return [] if self.copying is None else self.copying.written(tokens)

    def spelled(self, tokens: Sequence[str]) -> list[str]:
        """The spelling of copies of source tokens: that of their class, or else their own."""
        written = self._written(tokens)
        copies = self._copies(tokens)[-len(written) :] if written else []
        return [
            self.target.token(copy) if NO_CLASS < copy < len(self.target) else token
            for token, copy in zip(written, copies, strict=True)
            if token is not None
        ]

    def _columns(
        self, sources: Sequence[Sequence[str]], terminals: Sequence[str], copies: Copies | None
    ) -> Tensor:
        """See `SourceBatch.columns`. A terminal that is not a class may still be a word of the source."""
        classes = torch.tensor(
            [self.target.get(terminal, NO_CLASS) for terminal in terminals], dtype=torch.int64
        )
        columns = classes.repeat(len(sources), 1)
        if copies is None:
            return columns
        numbers = {terminal: number for number, terminal in enumerate(terminals)}
        for row, tokens in enumerate(sources):
            first = self.copy_classes if self.start_token else 0
            for place, token in enumerate(self._written(tokens), first):
                number = None if token is None else numbers.get(token)
                if number is not None and columns[row, number] == NO_CLASS:
                    columns[row, number] = copies.choices[row, place]
        return torch.cat([columns, copies.choices], 1)
