"""The word that an output should emphasise. It follows the sentence in the source: `sentence ; word`."""

from collections.abc import Sequence

MARKER = ";"


def split_source(text: str) -> tuple[str, str]:
    """Split a source into sentence and word, or raise a `ValueError`."""
    sentence, *words = text.split(MARKER)
    if not words:
        raise ValueError(f"no {MARKER!r} before the word to emphasise")
    if len(words) > 1:
        raise ValueError(f"expected one {MARKER!r}, found {len(words)}")
    if not sentence.strip():
        raise ValueError(f"no sentence before {MARKER!r}")
    return sentence.strip(), words[0].strip()


def check(tokens: Sequence[str], word: str | None) -> None:
    """Raise a `ValueError` if the word is not a token of the sentence."""
    if word is None:
        raise ValueError("no word to emphasise")
    if word not in tokens:
        raise ValueError(f"the word to emphasise is not in the sentence: {word!r}")


def indicators(tokens: Sequence[str], word: str | None) -> list[int]:
    """For each token, 1 if it is the word and else 0: the e in x + e·h."""
    return [int(token == word) for token in tokens]
