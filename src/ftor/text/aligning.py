"""Aligners: the probability that a target token comes from a source token, learned from pairs alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftor.ops.arrays import Array
from ftor.reporting import SILENT, Report
from ftor.text.anchoring import anchored_posteriors
from ftor.text.reading import Pair
from ftor.text.vocabulary import START_TOKEN, Vocabulary

DECIMALS = 4
"""Decimals of the posteriors in `Alignments.records`."""
IDLE_OCCURRENCES = 1.0
"""The Poisson model counts each source word this often more, as if it had then produced nothing.
Otherwise a source word that occurs once would explain all of its target."""

SHARPNESS = 1.1
"""Rates of the sparse model to this power: the greater ones gain."""
SAME_SPELLING = 3.0
"""How much more a source word produces the target word of the same spelling, to begin with."""
START = 0.1
"""How much less the start token produces than other words, to begin with: it is in all sources."""
TIE = 0.01
"""How much more the last word of the vocabulary produces than the first, to begin with."""
SURE = 0.9
"""A posterior that tells neighbours where they come from."""


def ibm1(
    pairs: Sequence[Pair], iterations: int, start_token: bool, report: Report | None = None
) -> list[Array]:
    """Posteriors of IBM model 1, P(target token j comes from source token i), without a null word.

    The probabilities t(target word | source word) sum to 1 for each source word. EM starts from uniform.

    Args:
        pairs: the pairs to learn from and to align.
        iterations: number of EM iterations.
        start_token: whether a start position comes before each source.
        report: receives the number of finished iterations.

    Returns:
        An array (n, l) for each pair. Each column sums to 1.
    """
    words = _Cooccurrences.of(pairs, start_token)

    def probabilities(counts: Array) -> Array:
        return counts / np.bincount(words.source_word, counts)[words.source_word]

    return words.posteriors(probabilities, iterations, report, "iterations of IBM model 1")


def poisson(
    pairs: Sequence[Pair], iterations: int, start_token: bool, report: Report | None = None
) -> list[Array]:
    """Posteriors of a model in which a source word can produce several target words.

    Each occurrence of a source word produces a Poisson-distributed number of each target word. The rates are
    mean counts, so they do not compete as the probabilities of IBM model 1 do: a source word that always
    produces two target words gets a rate near 1 for both.

    Args and return value are those of `ibm1`.
    """
    words = _Cooccurrences.of(pairs, start_token)

    def rates(counts: Array) -> Array:
        return counts / (words.source_counts + IDLE_OCCURRENCES)[words.source_word]

    return words.posteriors(rates, iterations, report, "iterations of the Poisson model")


def sparse(
    pairs: Sequence[Pair], iterations: int, start_token: bool, report: Report | None = None
) -> list[Array]:
    """Posteriors of the Poisson model that take one source word where several fit equally well.

    In `from A to B` two words could each have produced the same target words. The Poisson model leaves it at
    that. Here a source word that is spelled like the target word is preferred, and of others the likelier one
    gains from iteration to iteration. Of two positions with the same word, the one is preferred that is close
    to the source positions of the neighbouring target tokens.

    Args and return value are those of `ibm1`.
    """
    words = _Cooccurrences.of(pairs, start_token)

    def rates(counts: Array) -> Array:
        rate = counts / (words.source_counts + IDLE_OCCURRENCES)[words.source_word]
        return np.asarray(rate**SHARPNESS)

    start = np.where(words.is_start, START, 1.0 + SAME_SPELLING * words.same_spelling)
    start *= 1.0 + TIE * words.source_word / len(words.source_counts)
    found = words.posteriors(rates, iterations, report, "iterations of the sparse Poisson model", start)
    return [_near_neighbours(posterior) for posterior in found]


def _near_neighbours(posterior: Array) -> Array:
    """Prefer, for each target token, source positions close to those of its neighbours.

    Positions of neighbours are those of their greatest posteriors, if these are sure.
    """
    n, tokens = posterior.shape
    best = posterior.argmax(0)
    sure = posterior.max(0) >= SURE
    if sure.all() or not sure.any():
        return posterior
    closeness = np.zeros((n, tokens))
    for j in np.flatnonzero(~sure):
        for k in np.flatnonzero(sure):
            closeness[:, j] += np.exp(-abs(int(k) - int(j)) - abs(np.arange(n) - best[k]))
    weighted = np.where(sure, posterior, posterior * closeness)
    totals = weighted.sum(0)
    near = totals > 0  # else all neighbours are so far away that nothing is left
    return np.where(near, weighted / np.where(near, totals, 1.0), posterior)


def anchored(
    pairs: Sequence[Pair], iterations: int, start_token: bool, report: Report | None = None
) -> list[Array]:
    """Posteriors of the sparse model without words whose tokens no separable reordering puts into place.

    Args and return value are those of `ibm1`.
    """
    return anchored_posteriors(pairs, sparse(pairs, iterations, start_token, report), int(start_token))


ALIGNERS = {"ibm1": ibm1, "poisson": poisson, "sparse": sparse, "anchored": anchored}


@dataclass(frozen=True)
class _Cooccurrences:
    """The word pairs (source word, target word) that occur in the cells of all pairs.

    A cell is a source position and a target position of one pair. Cells are in the order of pairs, source
    positions and target positions.

    Attributes:
        shapes: (n, l) of each pair.
        word_pair: for each cell, the number of its word pair.
        column: for each cell, the number of its target position over all pairs.
        source_word: for each word pair, the number of its source word.
        source_counts: for each source word, how often it occurs.
        same_spelling: for each word pair, whether both words are the same.
        is_start: for each word pair, whether its source word is the start token.
    """

    shapes: list[tuple[int, int]]
    word_pair: Array
    column: Array
    source_word: Array
    source_counts: Array
    same_spelling: Array
    is_start: Array

    @classmethod
    def of(cls, pairs: Sequence[Pair], start_token: bool) -> "_Cooccurrences":
        sources = [source_tokens(pair, start_token) for pair in pairs]
        source = Vocabulary.of(sources, 0)
        target = Vocabulary.of((pair.target for pair in pairs), 0)
        word_pairs: list[Array] = []
        columns: list[Array] = []
        source_counts = np.zeros(len(source))
        first_column = 0
        for tokens, pair in zip(sources, pairs, strict=True):
            rows = np.array([source.get(token, -1) for token in tokens])
            cols = np.array([target.get(token, -1) for token in pair.target])
            np.add.at(source_counts, rows, 1)
            word_pairs.append((rows[:, None] * len(target) + cols).ravel())
            numbers = first_column + np.arange(len(cols))
            columns.append(np.broadcast_to(numbers, (len(rows), len(cols))).ravel())
            first_column += len(cols)
        distinct, word_pair = np.unique(np.concatenate(word_pairs), return_inverse=True)
        shapes = [(len(tokens), len(pair.target)) for tokens, pair in zip(sources, pairs, strict=True)]
        source_word, target_word = np.divmod(distinct, len(target))
        sources_of = np.array(source.tokens)[source_word]
        same = sources_of == np.array(target.tokens)[target_word]
        column, is_start = np.concatenate(columns), sources_of == START_TOKEN
        return cls(shapes, word_pair, column, source_word, source_counts, same, is_start)

    def posteriors(
        self,
        estimate: Callable[[Array], Array],
        iterations: int,
        report: Report | None,
        message: str,
        start: Array | None = None,
    ) -> list[Array]:
        """Run EM. `estimate` gives the weight of each word pair from its expected count.

        `start` has the first weights. By default all are equal.
        """
        weights = np.ones(len(self.source_word)) if start is None else start
        with (report or SILENT).counting(iterations) as count:
            for _ in range(iterations):
                weights = estimate(np.bincount(self.word_pair, self._posterior(weights), len(weights)))
                count.advance(1, message)
        ends = np.cumsum([rows * columns for rows, columns in self.shapes])[:-1]
        arrays = np.split(self._posterior(weights), ends)
        return [array.reshape(shape) for array, shape in zip(arrays, self.shapes, strict=True)]

    def _posterior(self, weights: Array) -> Array:
        """The posterior of each cell: its weight, normalised over the source positions."""
        cells = weights[self.word_pair]
        return np.asarray(cells / np.bincount(self.column, cells)[self.column])


def source_tokens(pair: Pair, start_token: bool) -> tuple[str, ...]:
    """The source tokens that the rows of a posterior stand for."""
    return ((START_TOKEN,) if start_token else ()) + pair.source


def common_token_positions(targets: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """For each target, the first positions of the tokens that all targets share.

    No source word explains these tokens.
    """
    common = set.intersection(*map(set, targets))
    for target in targets:
        yield [target.index(token) for token in sorted(common)]


def confident(posteriors: Sequence[Array], threshold: float) -> Iterator[list[tuple[int, int]]]:
    """For each pair, the (source position, target position) with a posterior of at least `threshold`."""
    for posterior in posteriors:
        yield [(int(i), int(j)) for i, j in np.argwhere(posterior >= threshold)]


@dataclass(frozen=True)
class Alignments:
    """Aligned pairs.

    Attributes:
        pairs: the pairs.
        posteriors: an array (n, l) for each pair.
        confident: for each pair, the positions whose posterior reaches the threshold.
        start_token: whether a start position comes before each source.
    """

    pairs: Sequence[Pair]
    posteriors: list[Array]
    confident: list[list[tuple[int, int]]]
    start_token: bool

    @classmethod
    def of(
        cls,
        pairs: Sequence[Pair],
        aligner: str,
        iterations: int,
        threshold: float,
        start_token: bool,
        report: Report,
    ) -> "Alignments":
        """Align the pairs with one of `ALIGNERS`."""
        posteriors = ALIGNERS[aligner](pairs, iterations, start_token, report)
        return cls(pairs, posteriors, list(confident(posteriors, threshold)), start_token)

    def records(self) -> Iterator[dict[str, Any]]:
        """One record per pair, for JSON. Rows of "posteriors" are source tokens, columns target tokens."""
        for pair, posterior, positions in zip(self.pairs, self.posteriors, self.confident, strict=True):
            yield {
                "line": pair.line,
                "source": source_tokens(pair, self.start_token),
                "target": pair.target,
                "posteriors": posterior.round(DECIMALS).tolist(),
                "pairs": positions,
            }
