"""The rules by which target tokens are copies of source tokens, of several in a row, or inflected forms."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from ftor.config import DataConfig
from ftor.text.forms import MOST_WORDS, SNAKE, form, snake
from ftor.text.inflecting import INFLECTIONS, inflected


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

    @property
    def inflections(self) -> tuple[str, ...]:
        """The rules that write inflected forms."""
        return tuple(rule for rule in self.forms if rule in INFLECTIONS)

    @property
    def kinds(self) -> int:
        """How many kinds of copies there are: of one token, of two in a row and so on, of each inflection."""
        return self.most_words + len(self.inflections)

    def words_of(self, kind: int) -> int:
        """How many source tokens in a row a copy of a kind is made of."""
        return kind + 1 if kind < self.most_words else 1

    def written(self, source: Sequence[str]) -> list[str | None]:
        """What copies of source tokens are written as, `kinds` for each token. None if there is no such copy.

        Of each token in turn: itself, then with the one after it, and so on up to `most_words` tokens, then
        its inflected forms.
        """
        written: list[str | None] = []
        for first, token in enumerate(source):
            written.append(form(token, self.forms))
            ends = range(first + 2, first + self.most_words + 1)
            written += [snake(source[first:end]) if end <= len(source) else None for end in ends]
            written += [inflected(token, rule) for rule in self.inflections]
        return written

    def copies(self, source: Sequence[str]) -> tuple[str, ...]:
        """Everything that copies of source tokens can be written as."""
        return tuple(token for token in self.written(source) if token is not None)

    def key(self, token: str) -> str:
        """The key of a target token. It is a copy of the source tokens that are written with the same key."""
        return token.lower() if self.any_case else token

    def keys(self, source: Sequence[str]) -> dict[str, int]:
        """The keys of the copies of a source, and the class of each: its kind, the first of several."""
        keys: dict[str, int] = {}
        for place, written in enumerate(self.written(source)):
            if written is not None:
                key, kind = self.key(written), place % self.kinds
                keys[key] = min(kind, keys.get(key, kind))
        return keys

    def copied(self, target: Sequence[str], source: Sequence[str]) -> tuple[str, ...]:
        """The target tokens that are copies of source tokens, `never` or not."""
        keys = self.keys(source)
        return tuple(token for token in target if self.key(token) in keys)

    def is_copy(self, token: str, source_keys: Collection[str]) -> bool:
        """Whether training treats a target token as a copy, given the keys of its source."""
        return token not in self.never and self.key(token) in source_keys
