"""IBM model 1: which source token a target token most likely comes from, learned from pairs alone."""

from collections.abc import Iterator, Sequence

import numpy as np

from ftor.data.reading import Pair
from ftor.data.vocabulary import START_TOKEN, Vocabulary
from ftor.prediction import Array


def ibm1(pairs: Sequence[Pair], iterations: int, start_token: bool) -> list[Array]:
    """Posteriors P(target token j comes from source token i) after EM from uniform, without a null word.

    Args:
        pairs: the examples to learn from, and to align.
        iterations: of EM over the table t(target word | source word).
        start_token: whether a start position comes before each source.

    Returns:
        For each pair (n, l); each column sums to 1.
    """
    sources = [((START_TOKEN,) if start_token else ()) + pair.source for pair in pairs]
    source = Vocabulary.of(sources, 0)
    target = Vocabulary.of((pair.target for pair in pairs), 0)
    words: list[Array] = []  # one number per (source word, target word) that meet, for every cell of a pair
    columns: list[Array] = []  # which target position a cell belongs to, counted over all pairs
    first = 0
    for tokens, pair in zip(sources, pairs, strict=True):
        rows = np.array([source.get(token, -1) for token in tokens])
        cols = np.array([target.get(token, -1) for token in pair.target])
        words.append((rows[:, None] * len(target) + cols).ravel())
        columns.append(np.broadcast_to(first + np.arange(len(cols)), (len(rows), len(cols))).ravel())
        first += len(cols)
    column = np.concatenate(columns)
    met, cell = np.unique(np.concatenate(words), return_inverse=True)
    source_word = met // len(target)
    table = np.ones(len(met))
    for _ in range(iterations):
        counts = np.bincount(cell, _posterior(table, cell, column, first), len(met))
        table = counts / np.bincount(source_word, counts, len(source))[source_word]
    posterior = _posterior(table, cell, column, first)
    shapes = [(len(tokens), len(pair.target)) for tokens, pair in zip(sources, pairs, strict=True)]
    ends = np.cumsum([rows * cols for rows, cols in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(posterior, ends), shapes, strict=True)]


def _posterior(table: Array, cell: Array, column: Array, columns: int) -> Array:
    likelihood = table[cell]
    total: Array = np.bincount(column, likelihood, columns)
    return np.asarray(likelihood / total[column])


def confident(posteriors: Sequence[Array], threshold: float) -> Iterator[list[tuple[int, int]]]:
    """For each pair, the (source position, target position) of posterior at least `threshold`."""
    for posterior in posteriors:
        yield [(int(i), int(j)) for i, j in np.argwhere(posterior >= threshold)]
