"""Splits texts into tokens."""

from functools import cache
from typing import Any

from ftor.config import Tokenizer
from ftor.errors import FtorError


def tokenize(text: str, tokenizer: Tokenizer = "whitespace") -> tuple[str, ...]:
    """Split a text at white space, or by spaCy's English rules."""
    if tokenizer == "whitespace":
        return tuple(text.split())
    return tuple(token.text for token in _english()(text) if not token.is_space)


@cache
def _english() -> Any:
    """SpaCy's tokenizer. It needs no trained model."""
    try:
        import spacy  # an extra
    except ImportError:
        raise FtorError(
            "source_tokenizer or target_tokenizer = english: spaCy is not installed: pip install 'ftor[text]'"
        ) from None
    return spacy.blank("en").tokenizer
