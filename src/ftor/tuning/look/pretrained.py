"""Pretrained vectors: whether sources are natural language, and what is there to read it with.

An encoder, which gives a vector to every word in its context, is better than word vectors.
"""

import importlib.util
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ftor.datasets.glove import LEAST_SHARE, PUBLIC, find_vectors
from ftor.datasets.minilm import ENCODER, find_encoder
from ftor.reporting import percent
from ftor.text.reading import DataError
from ftor.text.vectors import read_vectors
from ftor.tuning.look.findings import Finding, Words

LEAST_TYPES, SEEN_ONCE = 100, 0.2
"""Sources with so many different words, and with this share of them seen once, are natural language."""
COVERED = 0.9
"""The share of the running words that must have a vector, so that vectors are tried."""
INSTALL = "pip install 'ftor[pretrained]' lets the LSTM of a race read it."
FETCH = "ftor data fetch minilm brings an encoder, which the LSTM of a race would read."


class Pretrained(NamedTuple):
    """What a race reads sources with, besides what it learns.

    Attributes:
        findings: what is there, for people.
        vectors: the name of a file of word vectors.
        reader: the name of an encoder.
    """

    findings: tuple[Finding, ...] = ()
    vectors: str | None = None
    reader: str | None = None


def pretrained(counts: Mapping[str, int], words: Words, data_folder: Path | None) -> Pretrained:
    """What sources should be read with.

    Args:
        counts: how often each source word occurs.
        words: a summary of these.
        data_folder: where an encoder and vectors are, if not in the usual folders.
    """
    usual = Counter({word: count for word, count in counts.items() if word.isalpha() and len(word) > 1})
    if words.types < LEAST_TYPES or words.seen_once < SEEN_ONCE or not usual:
        return Pretrained()
    about = f"Sources are natural language: {words.types} words, {percent(words.seen_once, 0)} seen once"
    is_installed = importlib.util.find_spec("transformers") is not None
    if find_encoder(data_folder) is None:
        hint = FETCH if is_installed else f"{FETCH} {INSTALL}"
        return _word_vectors(about, hint, usual, data_folder)
    about = f"{about}. The encoder {ENCODER} is there"
    if not is_installed:
        return _word_vectors(about, INSTALL, usual, data_folder)
    advice = "The LSTM of a race reads it."
    return Pretrained((Finding(kind="vectors", text=f"{about}.", advice=advice),), reader=ENCODER)


def _word_vectors(about: str, hint: str, usual: Counter[str], data_folder: Path | None) -> Pretrained:
    """Word vectors, if there are any for most words. The hint says how to have an encoder."""
    try:
        path = find_vectors(PUBLIC, data_folder)
        found = None if path is None else read_vectors(path, usual).by_word
    except DataError:  # a file that is damaged or only has the name
        path = found = None
    if path is None or found is None:
        text = f"{about}. There are no pretrained vectors."
        return Pretrained((Finding(kind="vectors", text=text, advice=hint),))
    running = sum(usual[word] for word in found) / usual.total()
    types = len(found) / len(usual)
    text = (
        f"{about}. {path.name} has vectors for {percent(running, 0)} of them as they occur, and for "
        f"{percent(types, 0)} of the different ones."
    )
    if running < COVERED or types < LEAST_SHARE:
        advice = f"These are too few. {hint}"
        return Pretrained((Finding(kind="vectors", text=text, advice=advice),))
    advice = f"The LSTM of a race reads them. {hint}"
    return Pretrained((Finding(kind="vectors", text=text, advice=advice),), vectors=PUBLIC)
