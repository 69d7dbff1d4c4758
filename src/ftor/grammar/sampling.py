"""Draws strings of a grammar."""

from collections.abc import Iterator, Sequence

import torch

from ftor.grammar.grammar import Grammar
from ftor.grammar.reading import GrammarError


def sample_strings(
    grammar: Grammar, count: int, longest: int, seed: int = 0, sentence: Sequence[str] | None = None
) -> Iterator[tuple[str, ...]]:
    """Draw strings. Their lengths are equally likely, and so are all strings of a length.

    Args:
        grammar: the grammar.
        count: number of strings.
        longest: the most words of a string.
        seed: the same seed draws the same strings.
        sentence: the words that can be copied. If None, `@copy` stands for nothing.
    """
    copied = list(dict.fromkeys(word for word in sentence or () if word not in grammar.terminals))
    words = [*grammar.terminals, *copied]
    possible = grammar.lengths(longest, copies=bool(sentence))
    lengths = torch.tensor([length for length, is_possible in enumerate(possible) if is_possible])
    if not len(lengths):
        raise GrammarError(f"{grammar.name}: it derives no string of at most {longest} words")
    generator = torch.Generator().manual_seed(seed)
    drawn = lengths[torch.randint(len(lengths), (count,), generator=generator)]
    for length in drawn.tolist():
        scores = torch.zeros(1, length, len(words))
        try:
            columns = grammar.sample(scores, torch.tensor([length]), 1, generator)[0, 0]
        except RuntimeError as error:  # too many attempts
            raise GrammarError(f"{grammar.name}: {error}") from None
        yield tuple(words[column] for column in columns.tolist())
