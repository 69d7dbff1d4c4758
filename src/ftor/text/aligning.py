"""Which source token a target token most likely comes from, learned from pairs alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftor.ops.arrays import Array
from ftor.reporting import SILENT, Report
from ftor.text.reading import Pair
from ftor.text.vocabulary import START_TOKEN, Vocabulary

DECIMALS = 4
"""Of the posteriors in a record: more than any threshold needs, and files stay readable."""
IDLE_OCCURRENCES = 1.0
"""How often the Poisson model believes to have seen each source word make nothing, besides what it has seen.
Without it a word that occurs once would make all that its pair has."""


def ibm1(
    pairs: Sequence[Pair], iterations: int, start_token: bool, report: Report | None = None
) -> list[Array]:
    """Posteriors P(target token j comes from source token i) after EM from uniform, without a null word.

    All that a source word makes shares one unit of probability: t(target word | source word) sums to 1.

    Args:
        pairs: the examples to learn from, and to align.
        iterations: of EM.
        start_token: whether a start position comes before each source.
        report: hears how many iterations are done.

    Returns:
        For each pair (n, l); each column sums to 1.
    """
    meetings = _Meetings.of(pairs, start_token)

    def shares(made: Array) -> Array:
        return made / np.bincount(meetings.source_word, made)[meetings.source_word]

    return meetings.posteriors(shares, iterations, report, "iterations of IBM model 1")


def poisson(
    pairs: Sequence[Pair], iterations: int, start_token: bool, report: Report | None = None
) -> list[Array]:
    """The same as `ibm1`, of a model in which source words make several target words.

    Every occurrence of a source word makes a Poisson-distributed number of each target word, whose rate is
    how many it makes on average. So what a word always makes wins over what is merely often near it, and a
    word that makes two things makes each as surely as a word that makes one: fertility, in the paper's words.
    """
    meetings = _Meetings.of(pairs, start_token)

    def rates(made: Array) -> Array:
        return made / (meetings.occurrences + IDLE_OCCURRENCES)[meetings.source_word]

    return meetings.posteriors(rates, iterations, report, "iterations of the Poisson model")


ALIGNERS = {"ibm1": ibm1, "poisson": poisson}


@dataclass(frozen=True)
class _Meetings:
    """Which words are in one pair. A cell is a source position and a target position of one pair.

    Attributes:
        shapes: (n, l) of each pair.
        cell: for each cell, which two words meet.
        column: for each cell its target position, counted over all pairs.
        source_word: for each two words that meet, the source word.
        occurrences: of each source word.
    """

    shapes: list[tuple[int, int]]
    cell: Array
    column: Array
    source_word: Array
    occurrences: Array

    @classmethod
    def of(cls, pairs: Sequence[Pair], start_token: bool) -> "_Meetings":
        sources = [source_tokens(pair, start_token) for pair in pairs]
        source = Vocabulary.of(sources, 0)
        target = Vocabulary.of((pair.target for pair in pairs), 0)
        words: list[Array] = []
        columns: list[Array] = []
        occurrences = np.zeros(len(source))
        first = 0
        for tokens, pair in zip(sources, pairs, strict=True):
            rows = np.array([source.get(token, -1) for token in tokens])
            cols = np.array([target.get(token, -1) for token in pair.target])
            np.add.at(occurrences, rows, 1)
            words.append((rows[:, None] * len(target) + cols).ravel())
            columns.append(np.broadcast_to(first + np.arange(len(cols)), (len(rows), len(cols))).ravel())
            first += len(cols)
        met, cell = np.unique(np.concatenate(words), return_inverse=True)
        shapes = [(len(tokens), len(pair.target)) for tokens, pair in zip(sources, pairs, strict=True)]
        return cls(shapes, cell, np.concatenate(columns), met // len(target), occurrences)

    def posteriors(
        self, table: Callable[[Array], Array], iterations: int, report: Report | None, what: str
    ) -> list[Array]:
        """EM: `table` says from how often two words made each other how likely they do."""
        likely = np.ones(len(self.source_word))
        with (report or SILENT).counting(iterations) as count:
            for _ in range(iterations):
                likely = table(np.bincount(self.cell, self._posterior(likely), len(likely)))
                count.advance(1, what)
        ends = np.cumsum([rows * columns for rows, columns in self.shapes])[:-1]
        parts = np.split(self._posterior(likely), ends)
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def _posterior(self, likely: Array) -> Array:
        likelihood = likely[self.cell]
        return np.asarray(likelihood / np.bincount(self.column, likelihood)[self.column])


def source_tokens(pair: Pair, start_token: bool) -> tuple[str, ...]:
    """The words of a posterior's rows."""
    return ((START_TOKEN,) if start_token else ()) + pair.source


def common_token_positions(targets: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """For each target, the first positions of the tokens that all targets share.

    No source word explains them.
    """
    common = set.intersection(*map(set, targets))
    for target in targets:
        yield [target.index(token) for token in sorted(common)]


def confident(posteriors: Sequence[Array], threshold: float) -> Iterator[list[tuple[int, int]]]:
    """For each pair, the (source position, target position) of posterior at least `threshold`."""
    for posterior in posteriors:
        yield [(int(i), int(j)) for i, j in np.argwhere(posterior >= threshold)]


@dataclass(frozen=True)
class Alignments:
    """Pairs, their posteriors, and the positions that belong together with confidence."""

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
        """Align the pairs by one of `ALIGNERS`."""
        posteriors = ALIGNERS[aligner](pairs, iterations, start_token, report)
        return cls(pairs, posteriors, list(confident(posteriors, threshold)), start_token)

    def records(self) -> Iterator[dict[str, Any]]:
        """One record per pair; a posterior's rows are source tokens, its columns target tokens."""
        for pair, posterior, positions in zip(self.pairs, self.posteriors, self.confident, strict=True):
            yield {
                "line": pair.line,
                "source": source_tokens(pair, self.start_token),
                "target": pair.target,
                "posteriors": posterior.round(DECIMALS).tolist(),
                "pairs": positions,
            }
