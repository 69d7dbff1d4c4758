"""Which target tokens are copies of source tokens."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Self

from ftor.config import DataConfig


@dataclass(frozen=True)
class Copying:
    """The rules of a model that copies.

    Attributes:
        open: whether a copy may be a word that is no target class.
        any_case: whether words that differ in case only are copies of each other.
        never: target tokens that training makes no copies of.
    """

    open: bool = True
    any_case: bool = False
    never: frozenset[str] = frozenset()

    @classmethod
    def of(cls, config: DataConfig) -> Self:
        """The rules of a configuration."""
        return cls(config.copy_vocabulary == "open", config.copy_case == "any", frozenset(config.no_copy))

    def key(self, token: str) -> str:
        """What two tokens share if one is a copy of the other."""
        return token.lower() if self.any_case else token

    def keys(self, source: Iterable[str]) -> set[str]:
        """The keys of a source's tokens."""
        return {self.key(token) for token in source}

    def is_copy(self, token: str, source_keys: Collection[str]) -> bool:
        """Whether training takes a target token for a copy."""
        return token not in self.never and self.key(token) in source_keys
