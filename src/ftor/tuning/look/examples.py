"""Examples in findings: a few lines, a few words."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from ftor.text.reading import Pair

EXAMPLES = 5


class Lines(TypedDict):
    """The lines of a finding: see `Finding`."""

    lines: tuple[int, ...]
    more_lines: bool


def lines_of(pairs: Iterable[Pair], most: int = EXAMPLES) -> Lines:
    """The lines of the first few pairs."""
    lines = tuple(pair.line for pair in pairs)
    return Lines(lines=lines[:most], more_lines=len(lines) > most)


def some_of(words: Sequence[str]) -> str:
    """The first few words, and `…` if there are more."""
    return ", ".join(map(_shown, words[:EXAMPLES])) + (", …" if len(words) > EXAMPLES else "")


def _shown(word: str) -> str:
    """A word, in quotes if it ends with a mark that could be the message's."""
    return f"`{word}`" if word[-1:] in ",.;:)" else word
