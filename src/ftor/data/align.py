"""IBM model 1: which source token a target token most likely comes from, learned from pairs alone."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ftor.data.reading import Pair
from ftor.data.vocabulary import START_TOKEN, Vocabulary
from ftor.prediction import Array
from ftor.progress import Report

DECIMALS = 4
"""Of the posteriors in a record: more than any threshold needs, and files stay readable."""
WORD_PAIRS_SHOWN = 20


def ibm1(
    pairs: Sequence[Pair], iterations: int, start_token: bool, report: Report | None = None
) -> list[Array]:
    """Posteriors P(target token j comes from source token i) after EM from uniform, without a null word.

    Args:
        pairs: the examples to learn from, and to align.
        iterations: of EM over the table t(target word | source word).
        start_token: whether a start position comes before each source.
        report: hears how many iterations are done.

    Returns:
        For each pair (n, l); each column sums to 1.
    """
    sources = [source_tokens(pair, start_token) for pair in pairs]
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
    with (report or Report(quiet=True)).counting(iterations) as count:
        for _ in range(iterations):
            counts = np.bincount(cell, _posterior(table, cell, column, first), len(met))
            table = counts / np.bincount(source_word, counts, len(source))[source_word]
            count.advance(1, "iterations of IBM model 1")
    posterior = _posterior(table, cell, column, first)
    shapes = [(len(tokens), len(pair.target)) for tokens, pair in zip(sources, pairs, strict=True)]
    ends = np.cumsum([rows * cols for rows, cols in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(posterior, ends), shapes, strict=True)]


def source_tokens(pair: Pair, start_token: bool) -> tuple[str, ...]:
    """The words of a posterior's rows."""
    return ((START_TOKEN,) if start_token else ()) + pair.source


def _posterior(table: Array, cell: Array, column: Array, columns: int) -> Array:
    likelihood = table[cell]
    total: Array = np.bincount(column, likelihood, columns)
    return np.asarray(likelihood / total[column])


def from_no_word(targets: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """For each target, where the tokens are first that all targets have, which no source word explains."""
    everywhere = set.intersection(*map(set, targets))
    for target in targets:
        yield [target.index(token) for token in sorted(everywhere)]


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
        cls, pairs: Sequence[Pair], iterations: int, threshold: float, start_token: bool, report: Report
    ) -> "Alignments":
        """Align the pairs by IBM model 1."""
        posteriors = ibm1(pairs, iterations, start_token, report)
        return cls(pairs, posteriors, list(confident(posteriors, threshold)), start_token)

    def records(self) -> Iterator[dict[str, Any]]:
        """One record per pair; a posterior's rows are source tokens, its columns target tokens."""
        for pair, posterior, chosen in zip(self.pairs, self.posteriors, self.confident, strict=True):
            yield {
                "line": pair.line,
                "source": source_tokens(pair, self.start_token),
                "target": pair.target,
                "posteriors": posterior.round(DECIMALS).tolist(),
                "pairs": chosen,
            }

    def summary(self) -> Group:
        """How much is aligned, and the word pairs that are most often."""
        found = defaultdict[tuple[str, str], list[float]](list)
        targets = sum(len(pair.target) for pair in self.pairs)
        aligned = sum(len({j for _, j in chosen}) for chosen in self.confident)
        for pair, posterior, chosen in zip(self.pairs, self.posteriors, self.confident, strict=True):
            source = source_tokens(pair, self.start_token)
            for i, j in chosen:
                found[source[i], pair.target[j]].append(float(posterior[i, j]))
        counts = Table.grid(padding=(0, 2))
        counts.add_row("pairs", str(len(self.pairs)))
        counts.add_row("target positions", str(targets))
        counts.add_row("of these aligned", f"{aligned} ({aligned / targets:.1%})")
        if self.start_token:
            on_start = sum(i == 0 for chosen in self.confident for i, _ in chosen)
            counts.add_row("on the start token", str(on_start))
        words = Table("source word", "target word", "positions", "mean posterior")
        often = sorted(found.items(), key=lambda item: (-len(item[1]), -sum(item[1]), item[0]))
        for (source_word, target_word), values in often[:WORD_PAIRS_SHOWN]:
            # as text, since words such as [red] would be read as rich's markup
            row = (source_word, target_word, str(len(values)), f"{sum(values) / len(values):.3f}")
            words.add_row(*map(Text, row))
        return Group(counts, words) if often else Group(counts)
