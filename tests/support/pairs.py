"""Pairs from texts."""

from ftor.text.reading import Pair


def pairs_of(rows):
    """Pairs as `read_pairs` gives them, from rows of source and target texts."""
    return [
        Pair(tuple(source.split()), tuple(target.split()), line, None, target)
        for line, (source, target) in enumerate(rows, 1)
    ]
