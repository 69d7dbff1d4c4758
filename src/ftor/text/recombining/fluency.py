"""A check of sentences that are put together: are the words at the seams together in training?"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ftor.grammar.nesting import is_missing

BOUNDARY = ""
"""Stands before and after a sentence."""
EXPECTED = 6.0
"""Neighbours ask for a word if chance would have put them into so many sentences without it."""


class NGrams:
    """The n-grams of training sentences, of two to four words."""

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        self.bigrams: set[tuple[str, str]] = set()
        self._trigrams: set[tuple[str, ...]] = set()
        self._four: set[tuple[str, ...]] = set()
        self._company: dict[tuple[str, str], set[str]] = {}
        counts, words_of = Counter[tuple[str, str]](), Counter[str]()
        total = 0
        for sentence in sentences:
            words = [BOUNDARY, *sentence, BOUNDARY]
            self.bigrams.update(pairwise(words))
            self._trigrams.update(zip(words, words[1:], words[2:], strict=False))
            self._four.update(zip(words, words[1:], words[2:], words[3:], strict=False))
            total += 1
            words_of.update({*sentence})
            for both in {*pairwise(words)}:
                counts[both] += 1
                self._company[both] = self._company.get(both, {*sentence}) & {*sentence}
        for both, company in self._company.items():
            self._company[both] = {
                word
                for word in company - {*both}
                if is_missing(counts[both], total - words_of[word], total, EXPECTED)
            }

    def are_fluent(self, sentence: Sequence[str], seams: Iterable[int]) -> bool:
        """Whether training has the words beside each seam together with one more word on each side.

        A seam is the number of words before it.
        """
        words = [BOUNDARY, *sentence, BOUNDARY]
        starts = [start for seam in seams for start in (seam - 1, seam) if 0 <= start <= len(words) - 3]
        return all(tuple(words[start : start + 3]) in self._trigrams for start in starts)

    def has_company(self, sentence: Sequence[str]) -> bool:
        """Whether all neighbours come with the words that they always come with in training.

        In `how many cups are there`, `are there` asks for `how`: `list cups are there` is no sentence.
        """
        words, known = [BOUNDARY, *sentence, BOUNDARY], {*sentence}
        return all(self._company.get(both, known) <= known for both in pairwise(words))

    def have_seams(self, sentence: Sequence[str], seams: Iterable[int]) -> bool:
        """Whether training has the two words before each seam together with the two after it."""
        words = [BOUNDARY, *sentence, BOUNDARY]
        starts = [seam - 1 for seam in seams if 0 < seam < len(sentence)]
        return all(tuple(words[start : start + 4]) in self._four for start in starts)
