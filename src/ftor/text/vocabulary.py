"""Tokens and their numbers."""

from collections.abc import Iterable, Sequence

PAD, UNKNOWN, START = range(3)
"""The first source ids; they stand for no token, so that no text can be mistaken for them."""
SOURCE_SPECIALS = 3
COPY = 0
"""The first target class of a model that copies."""
START_TOKEN = "@start@"
"""How the start position is shown."""


class Vocabulary:
    """A numbering of tokens, after `specials` ids that stand for none."""

    def __init__(self, tokens: Iterable[str], specials: int) -> None:
        self.tokens = list(tokens)
        self.specials = specials
        self._ids = {token: specials + index for index, token in enumerate(self.tokens)}
        if len(self._ids) != len(self.tokens):
            raise ValueError("tokens: expected each once, found one twice")

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], specials: int) -> "Vocabulary":
        """The tokens of all sentences, in the order of their first appearance."""
        return cls(dict.fromkeys(token for tokens in sentences for token in tokens), specials)

    def __contains__(self, token: str) -> bool:
        return token in self._ids

    def __len__(self) -> int:
        return self.specials + len(self.tokens)

    def add(self, token: str) -> None:
        """Give the next id to a new token."""
        self._ids[token] = len(self)
        self.tokens.append(token)

    def get(self, token: str, default: int) -> int:
        """The id of a token, or `default` if it has none."""
        return self._ids.get(token, default)

    def token(self, number: int) -> str:
        """The token of an id that is not special."""
        return self.tokens[number - self.specials]
