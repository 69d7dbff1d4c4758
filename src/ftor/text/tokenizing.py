"""Splits texts into tokens."""

from functools import lru_cache
from itertools import count
from typing import Any

from ftor.config import Tokenizer
from ftor.errors import FtorError

TEXTS = 20_000
"""After so many texts, the tokenizer is made anew: it keeps every word that it has met."""


def tokenize(text: str, tokenizer: Tokenizer = "whitespace") -> tuple[str, ...]:
    """Split a text at white space, or by spaCy's English rules."""
    if tokenizer == "whitespace":
        return tuple(text.split())
    tokens = _english(next(_texts) // TEXTS)(text)
    return tuple(token.text for token in tokens if not token.is_space)


_texts = count()


@lru_cache(maxsize=1)
def _english(number: int) -> Any:
    """SpaCy's tokenizer. It needs no trained model. Another number makes another one."""
    try:
        import spacy  # an extra
    except ImportError:
        raise FtorError(
            "source_tokenizer or target_tokenizer = english: spaCy is not installed: pip install 'ftor[text]'"
        ) from None
    return spacy.blank("en").tokenizer
