"""The word that an output should emphasise. It follows the sentence in the source: `sentence ; word`."""

from collections.abc import Sequence

MARKER = ";"


def split_source(text: str) -> tuple[str, str]:
    """Split a source into sentence and word, or raise a `ValueError`."""
    sentence, *words = text.split(MARKER)
    if len(words) != 1:
        raise ValueError(
            f"expected one {MARKER!r} before the word to emphasise, found {len(words) or 'none'}"
        )
    if not sentence.strip():
        raise ValueError(f"expected a sentence before {MARKER!r}, found nothing")
    return sentence.strip(), words[0].strip()


def check(tokens: Sequence[str], word: str | None) -> None:
    """Raise a `ValueError` if the word is not a token of the sentence."""
    if word not in tokens:
        shown = "none" if word is None else repr(word)
        raise ValueError(f"expected a word of the sentence to emphasise, found {shown}")


def indicators(tokens: Sequence[str], word: str | None) -> list[int]:
    """For each token, 1 if it is the word and else 0: the e in x + e·h."""
    return [int(token == word) for token in tokens]
