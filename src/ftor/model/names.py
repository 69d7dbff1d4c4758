"""Vectors of the names of target classes, and which classes training has."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from ftor.config import Config
from ftor.datasets.glove import require_vectors
from ftor.networks import Network
from ftor.ops.arrays import Array
from ftor.reporting import Report, counted
from ftor.text.names import name_words
from ftor.text.reading import Pair
from ftor.text.vectors import read_vectors
from ftor.text.vocabularies import Vocabularies

Name = tuple[str, ...]


def fit_names(
    network: Network,
    config: Config,
    words: Vocabularies,
    pairs: Sequence[Pair],
    data_folder: Path | None,
    report: Report,
) -> None:
    """Give the target classes of a new network the vectors of their names.

    Args:
        network: one with `model.compose_names`.
        config: the experiment.
        words: give the classes, and the reader if there is one.
        pairs: the training pairs.
        data_folder: where the file of vectors is, if not in the usual folders.
        report: receives how many classes training lacks.
    """
    tokens, in_training = words.target.tokens, {token for pair in pairs for token in pair.target}
    names = [name_words(token) for token in tokens]
    known = dict.fromkeys(name for name in names if name)
    found = _in_context(words, list(known)) if words.reader else _of_words(config, list(known), data_folder)
    size = len(next(iter(found.values()), ()))
    vectors = np.stack([found.get(name, np.zeros(size, np.float32)) for name in names])
    seen = torch.tensor([token in in_training for token in tokens])
    network.fit_names(torch.from_numpy(vectors), seen)
    named = (token for token, name in zip(tokens, names, strict=True) if name in found)
    new = [token for token in named if token not in in_training]
    example = f", such as {new[0]}" if new else ""
    report.say(f"names: {counted(len(new), 'target word')} that training lacks{example}")


def _in_context(words: Vocabularies, names: Sequence[Name]) -> dict[Name, Array]:
    """The mean vectors (E,) of the words of names, which a reader reads as sentences."""
    assert words.reader is not None
    rows = words.reader.vectors(names)
    return {name: vectors[1:].mean(0) for name, vectors in zip(names, rows, strict=True)}


def _of_words(config: Config, names: Sequence[Name], data_folder: Path | None) -> dict[Name, Array]:
    """The mean vectors (E,) of the words of names. A name without a known word has none."""
    assert config.data.vectors is not None
    path = require_vectors(config.data.vectors, data_folder)
    by_word = read_vectors(path, {word for name in names for word in name}).by_word
    found = ((name, [by_word[word] for word in name if word in by_word]) for name in names)
    return {name: np.mean(vectors, 0) for name, vectors in found if vectors}
