"""A vocabulary: tokens and their ids."""

from collections.abc import Iterable, Sequence

PAD, UNKNOWN, START = range(3)
"""The special source ids. They are not ids of tokens, so no text can produce them."""
SOURCE_SPECIALS = 3
COPY = 0
"""The first target class of a model that copies."""
START_TOKEN = "@start@"
"""What the start position is called in tables and pictures."""


class Vocabulary:
    """Tokens with consecutive ids.

    Args:
        tokens: the tokens, without duplicates.
        specials: number of special ids. The first token has the id `specials`.
    """

    def __init__(self, tokens: Iterable[str], specials: int) -> None:
        self.tokens = list(tokens)
        self.specials = specials
        self._ids = {token: specials + index for index, token in enumerate(self.tokens)}
        if len(self._ids) != len(self.tokens):
            raise ValueError("tokens: one occurs twice")

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], specials: int) -> "Vocabulary":
        """The tokens of all sentences, in the order of their first occurrence."""
        return cls(dict.fromkeys(token for tokens in sentences for token in tokens), specials)

    def __contains__(self, token: str) -> bool:
        return token in self._ids

    def __len__(self) -> int:
        return self.specials + len(self.tokens)

    def add(self, token: str) -> None:
        """Add a new token. It gets the next id."""
        self._ids[token] = len(self)
        self.tokens.append(token)

    def keep(self, count: int) -> None:
        """Remove all but the first `count` tokens."""
        for token in self.tokens[count:]:
            del self._ids[token]
        del self.tokens[count:]

    def get(self, token: str, default: int) -> int:
        """The id of a token, or `default` if it is not in the vocabulary."""
        return self._ids.get(token, default)

    def token(self, number: int) -> str:
        """The token with an id. The id must not be special."""
        return self.tokens[number - self.specials]
