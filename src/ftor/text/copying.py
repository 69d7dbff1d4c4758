"""The rules by which target tokens are copies of source tokens."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Self

from ftor.config import DataConfig


@dataclass(frozen=True)
class Copying:
    """The copy rules of a model.

    Attributes:
        open: whether a word that is not a target class can be copied.
        any_case: whether words that differ only in case are copies of each other.
        never: target tokens that training does not treat as copies.
    """

    open: bool = True
    any_case: bool = False
    never: frozenset[str] = frozenset()

    @classmethod
    def of(cls, config: DataConfig) -> Self:
        """The rules of a configuration."""
        return cls(config.copy_vocabulary == "open", config.copy_case == "any", frozenset(config.no_copy))

    def key(self, token: str) -> str:
        """The key of a token. Two tokens are copies of each other if their keys are equal."""
        return token.lower() if self.any_case else token

    def keys(self, source: Iterable[str]) -> set[str]:
        """The keys of the tokens of a source."""
        return {self.key(token) for token in source}

    def is_copy(self, token: str, source_keys: Collection[str]) -> bool:
        """Whether training treats a target token as a copy, given the keys of its source."""
        return token not in self.never and self.key(token) in source_keys
