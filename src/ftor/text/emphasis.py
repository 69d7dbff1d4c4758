"""The word that an output is to emphasise, given behind its sentence: `sentence ; word`."""

from collections.abc import Sequence

MARKER = ";"


def take_apart(text: str) -> tuple[str, str]:
    """The sentence and the word, or a `ValueError` that says what is wrong with the text."""
    sentence, *rest = text.split(MARKER)
    if len(rest) != 1:
        raise ValueError(f"expected one {MARKER!r} before the word to emphasise, found {len(rest) or 'none'}")
    if not sentence.strip():
        raise ValueError(f"expected a sentence before {MARKER!r}, found nothing")
    return sentence.strip(), rest[0].strip()


def check(tokens: Sequence[str], word: str | None) -> None:
    """Raise a `ValueError` if the word is none of the sentence's tokens."""
    if word not in tokens:
        found = "none" if word is None else repr(word)
        raise ValueError(f"expected a word of the sentence to emphasise, found {found}")


def indicators(tokens: Sequence[str], word: str | None) -> list[int]:
    """Whether each token is the word, e in x + e·h: 1 or 0."""
    return [int(token == word) for token in tokens]
