"""A summary of the alignments of a file, for the terminal."""

from collections import defaultdict

from rich.console import Group
from rich.table import Table
from rich.text import Text

from ftor.reporting import percent
from ftor.text.aligning import Alignments, source_tokens

WORD_PAIRS_SHOWN = 20


def summary(alignments: Alignments) -> Group:
    """Return how many positions are aligned, and the most frequent word pairs."""
    posteriors = defaultdict[tuple[str, str], list[float]](list)
    targets = sum(len(pair.target) for pair in alignments.pairs)
    aligned = sum(len({j for _, j in links}) for links in alignments.confident)
    for pair, posterior, links in zip(
        alignments.pairs, alignments.posteriors, alignments.confident, strict=True
    ):
        source = source_tokens(pair, alignments.start_token)
        for i, j in links:
            posteriors[source[i], pair.target[j]].append(float(posterior[i, j]))
    counts = Table.grid(padding=(0, 2))
    counts.add_row("pairs", str(len(alignments.pairs)))
    counts.add_row("target positions", str(targets))
    counts.add_row("of these aligned", f"{aligned} ({percent(aligned / targets)})")
    if alignments.start_token:
        on_start = sum(i == 0 for links in alignments.confident for i, _ in links)
        counts.add_row("on the start token", str(on_start))
    words = Table("source word", "target word", "positions", "mean posterior")
    frequent = sorted(posteriors.items(), key=lambda item: (-len(item[1]), -sum(item[1]), item[0]))
    for (source_word, target_word), values in frequent[:WORD_PAIRS_SHOWN]:
        # as Text, because rich would read words such as [red] as markup
        row = (source_word, target_word, str(len(values)), f"{sum(values) / len(values):.3f}")
        words.add_row(*map(Text, row))
    return Group(counts, words) if frequent else Group(counts)
