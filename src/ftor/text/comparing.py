"""Compares pairs of two files: the same pairs, or swapped columns."""

from collections.abc import Sequence

from ftor.text.reading import Pair

SWAPPED = 0.3
"""How much larger the share of known words is where columns are swapped."""


def same_pairs(pairs: Sequence[Pair], others: Sequence[Pair]) -> list[Pair]:
    """The pairs that are also among the others."""
    known = {(pair.source, pair.target, pair.emphasis) for pair in others}
    return [pair for pair in pairs if (pair.source, pair.target, pair.emphasis) in known]


def looks_swapped(pairs: Sequence[Pair], train: Sequence[Pair]) -> bool:
    """Whether the words of both columns fit the other column of the training pairs better."""
    sources, targets = _words(pairs)
    source_words, target_words = map(set, _words(train))
    gains = (
        _known(sources, target_words) - _known(sources, source_words),
        _known(targets, source_words) - _known(targets, target_words),
    )
    return min(gains) >= 0 and max(gains) > SWAPPED


def _words(pairs: Sequence[Pair]) -> tuple[list[str], list[str]]:
    """All words of the sources, and of the targets as they are written."""
    sources = [word for pair in pairs for word in pair.source]
    return sources, [word for pair in pairs for word in (pair.target_text.split() or pair.target)]


def _known(words: Sequence[str], vocabulary: set[str]) -> float:
    return sum(word in vocabulary for word in words) / max(len(words), 1)
