"""The rules by which target tokens are copies of source tokens, or of several of them in a row."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from ftor.config import DataConfig
from ftor.text.forms import MOST_WORDS, SNAKE, form, snake


@dataclass(frozen=True)
class Copying:
    """The copy rules of a model.

    Attributes:
        open: whether a word that is not a target class can be copied.
        any_case: whether words that differ only in case are copies of each other.
        never: target tokens that training does not treat as copies.
        forms: the rules of `ftor.text.forms` by which copies are written in other forms than source words.
    """

    open: bool = True
    any_case: bool = False
    never: frozenset[str] = frozenset()
    forms: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: DataConfig) -> Self:
        """The rules of a configuration."""
        kinds = config.copy_vocabulary == "open", config.copy_case == "any"
        return cls(*kinds, frozenset(config.no_copy), tuple(config.copy_forms.split()))

    @property
    def most_words(self) -> int:
        """How many source tokens in a row one target token may be a copy of."""
        return MOST_WORDS if SNAKE in self.forms else 1

    def written(self, source: Sequence[str]) -> list[str | None]:
        """What copies of source tokens are written as. None if there is no such copy.

        Of each token in turn: itself, then with the one after it, and so on up to `most_words` tokens.
        """
        written: list[str | None] = []
        for first, token in enumerate(source):
            written.append(form(token, self.forms))
            ends = range(first + 2, first + self.most_words + 1)
            written += [snake(source[first:end]) if end <= len(source) else None for end in ends]
        return written

    def copies(self, source: Sequence[str]) -> tuple[str, ...]:
        """Everything that copies of source tokens can be written as."""
        return tuple(token for token in self.written(source) if token is not None)

    def key(self, token: str) -> str:
        """The key of a target token. It is a copy of the source tokens that are written with the same key."""
        return token.lower() if self.any_case else token

    def keys(self, source: Sequence[str]) -> dict[str, int]:
        """The keys of the copies of a source, and the class of each: one less than its number of tokens."""
        keys: dict[str, int] = {}
        for place, written in enumerate(self.written(source)):
            if written is not None:
                key, words = self.key(written), place % self.most_words
                keys[key] = min(words, keys.get(key, words))
        return keys

    def copied(self, target: Sequence[str], source: Sequence[str]) -> tuple[str, ...]:
        """The target tokens that are copies of source tokens, `never` or not."""
        keys = self.keys(source)
        return tuple(token for token in target if self.key(token) in keys)

    def is_copy(self, token: str, source_keys: Collection[str]) -> bool:
        """Whether training treats a target token as a copy, given the keys of its source."""
        return token not in self.never and self.key(token) in source_keys
