"""The rules by which target tokens are copies of source tokens."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Self

from ftor.config import DataConfig
from ftor.text.forms import form


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

    def written(self, token: str) -> str:
        """What a copy of a source token is written as."""
        return form(token, self.forms)

    def key(self, token: str) -> str:
        """The key of a target token. It is a copy of the source tokens whose `source_key` is the same."""
        return token.lower() if self.any_case else token

    def source_key(self, token: str) -> str:
        """The key of a source token."""
        return self.key(self.written(token))

    def keys(self, source: Iterable[str]) -> set[str]:
        """The keys of the tokens of a source."""
        return {self.source_key(token) for token in source}

    def is_copy(self, token: str, source_keys: Collection[str]) -> bool:
        """Whether training treats a target token as a copy, given the keys of its source."""
        return token not in self.never and self.key(token) in source_keys
