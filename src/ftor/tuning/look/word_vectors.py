"""Pretrained word vectors: whether sources are natural language, and how many of their words have one."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ftor.datasets.glove import LEAST_SHARE, PUBLIC, find_vectors
from ftor.reporting import percent
from ftor.text.reading import DataError
from ftor.text.vectors import read_vectors
from ftor.tuning.look.findings import Finding, Words

LEAST_TYPES, SEEN_ONCE = 100, 0.2
"""Sources with so many different words, and with this share of them seen once, are natural language."""
COVERED = 0.9
"""The share of the running words that must have a vector, so that vectors are tried."""


def vectors(counts: Mapping[str, int], words: Words, data_folder: Path | None) -> tuple[list[Finding], bool]:
    """What pretrained vectors are worth to sources, and whether they should be tried.

    Args:
        counts: how often each source word occurs.
        words: a summary of these.
        data_folder: where vectors are, if not in the usual folders.
    """
    usual = Counter({word: count for word, count in counts.items() if word.isalpha() and len(word) > 1})
    if words.types < LEAST_TYPES or words.seen_once < SEEN_ONCE or not usual:
        return [], False
    about = f"Sources are natural language: {words.types} words, {percent(words.seen_once, 0)} seen once"
    try:
        path = find_vectors(PUBLIC, data_folder)
        found = None if path is None else read_vectors(path, usual).by_word
    except DataError:  # a file that is damaged or only has the name
        path = found = None
    if path is None or found is None:
        advice = f"ftor data fetch glove brings {PUBLIC}; the LSTM of a race then reads it."
        return [
            Finding(kind="vectors", text=f"{about}. There are no pretrained vectors.", advice=advice)
        ], False
    running = sum(usual[word] for word in found) / usual.total()
    types = len(found) / len(usual)
    tried = running >= COVERED and types >= LEAST_SHARE
    text = (
        f"{about}. {path.name} has vectors for {percent(running, 0)} of them as they occur, and for "
        f"{percent(types, 0)} of the different ones."
    )
    advice = "The LSTM of a race reads them." if tried else "These are too few for the LSTM of a race."
    return [Finding(kind="vectors", text=text, advice=advice)], tried
