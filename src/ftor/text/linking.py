"""Which words of a sentence name which units of its program, and nothing else."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ftor.ops.arrays import Array
from ftor.text.aligning import poisson
from ftor.text.deciding import without_arity, words_beside
from ftor.text.reading import Pair

SURE = 0.5
"""Least posterior of a link, over all occurrences of the word."""
LIFT = 3.0
"""A word is linked to a unit that is so many times as frequent in pairs with the word as in all pairs."""
INFORMATION = 0.45
"""A word is also linked to a unit if their normalised pointwise mutual information is at least this.

Without these two conditions a word would be linked to every unit that its programs share with most others.
"""
LEAST = 2
"""Least number of pairs with the word and the unit."""
PARTNERS = 0.9
"""Least share of the pairs with a unit that have its word, and of those with the word that have the unit."""
NAMED_SHARE = 0.5
"""Units that are linked less often than this are structure, which no word names."""
ALIKE = 10
"""Least number of pairs that show that units with other arguments have one word."""
APART = 0.2
"""Adjacent tokens that different words name more often than this are named apart."""


@dataclass(frozen=True)
class Links:
    """The links of a pair.

    Attributes:
        word_of: for each unit the position of the word that names it, or None.
        is_named: for each unit whether a word usually names it.
        is_function: for each word whether it usually names nothing.
        beside: for each unit the positions of other words without which its phrase is not whole.
    """

    word_of: Sequence[int | None]
    is_named: Sequence[bool]
    is_function: Sequence[bool]
    beside: Sequence[frozenset[int]]

    def are_sure(self, units: Collection[int]) -> bool:
        """Whether a word names each unit of `units` that words name, and there is one."""
        named = [unit for unit in units if self.is_named[unit]]
        return bool(named) and all(self.word_of[unit] is not None for unit in named)

    def with_structure(self, places: Collection[int]) -> "Links":
        """The links with more units, at `places`, that no word names."""
        length = len(self.word_of) + len(places)
        others = [place for place in range(length) if place not in places]
        word_of = dict(zip(others, self.word_of, strict=True))
        is_named = dict(zip(others, self.is_named, strict=True))
        beside = dict(zip(others, self.beside, strict=True))
        return replace(
            self,
            word_of=[word_of.get(place) for place in range(length)],
            is_named=[is_named.get(place, False) for place in range(length)],
            beside=[beside.get(place, frozenset()) for place in range(length)],
        )

    def words(self, units: Collection[int]) -> set[int]:
        """The positions of the words of units: those that name them, and those beside."""
        named = [unit for unit in units if self.is_named[unit]]
        found = {word for unit in named if (word := self.word_of[unit]) is not None}
        return found.union(*(self.beside[unit] for unit in named))

    def phrases(self, units: Collection[int], around: int) -> Iterator[tuple[int, int, int, int]]:
        """The phrases that name `units` and nothing else.

        The shortest one, and those with up to `around` function words before or after it. Each is its first
        word, its end, and how many function words are at its start and at its end.
        """
        if not self.are_sure(units):
            return
        inside = self.words(units)
        outside = self.words(set(range(len(self.word_of))).difference(units))
        first, last = min(inside), max(inside) + 1
        if inside & outside or any(first <= word < last for word in outside):
            return
        starts = [first, *self._free(range(first - 1, first - 1 - around, -1), outside)]
        ends = [last, *(word + 1 for word in self._free(range(last, last + around), outside))]
        for start in starts:
            for end in ends:
                yield start, end, first - start, end - last

    def _free(self, words: Sequence[int], linked: Collection[int]) -> Iterator[int]:
        """The words up to the first that is none of the sentence, is linked, or usually names something."""
        for word in words:
            if not 0 <= word < len(self.is_function) or word in linked or not self.is_function[word]:
                return
            yield word


def link_words(pairs: Sequence[Pair], iterations: int, closely: bool = False) -> list[Links]:
    """Link the words and units of pairs with the Poisson aligner.

    Args:
        pairs: with targets in units.
        iterations: of the aligner.
        closely: whether a unit is also linked to the word that it is, if the sentence has it once, to a word
            that names several units, and to the words beside: see `ftor.text.deciding`.
    """
    posteriors = poisson(pairs, iterations, start_token=True)
    both = Counter((word, unit) for pair in pairs for word in set(pair.source) for unit in set(pair.target))
    words = Counter(word for pair in pairs for word in set(pair.source))
    units = Counter(unit for pair in pairs for unit in set(pair.target))

    def is_specific(word: str, unit: str) -> bool:
        together = both[word, unit]
        if together < LEAST or together == len(pairs):
            return False
        lift = together * len(pairs) / (words[word] * units[unit])
        return lift >= LIFT or math.log(lift) >= INFORMATION * math.log(len(pairs) / together)

    partners = _partners(both, words, units, len(pairs))
    if closely:
        partners = _named_alike(pairs) | partners

    def link(pair: Pair, unit: str, word: int | None) -> int | None:
        if closely and unit[-1].isalnum() and pair.source.count(unit) == 1:  # a bracket is no name
            return pair.source.index(unit)
        if word is not None and is_specific(pair.source[word], unit):
            return word
        partner = partners.get(unit)
        return pair.source.index(partner) if partner is not None and pair.source.count(partner) == 1 else None

    linked = [
        [link(pair, unit, word) for unit, word in zip(pair.target, _best_words(pair, posterior), strict=True)]
        for pair, posterior in zip(pairs, posteriors, strict=True)
    ]
    occurrences, named = Counter[str](), Counter[str]()
    for pair, of in zip(pairs, linked, strict=True):
        occurrences.update(pair.target)
        named.update(unit for unit, word in zip(pair.target, of, strict=True) if word is not None)
    is_named = {unit: named[unit] >= NAMED_SHARE * count for unit, count in occurrences.items()}
    naming = Counter(
        pair.source[word]
        for pair, of in zip(pairs, linked, strict=True)
        for word in {word for unit, word in zip(pair.target, of, strict=True) if is_named[unit]}
        if word is not None
    )
    functions = [[naming[word] < NAMED_SHARE * words[word] for word in pair.source] for pair in pairs]
    beside = [[frozenset[int]() for _ in pair.target] for pair in pairs]
    if closely:
        beside = words_beside(pairs, linked, functions)
    return [
        Links(of, [is_named[unit] for unit in pair.target], free, others)
        for pair, of, free, others in zip(pairs, linked, functions, beside, strict=True)
    ]


def link_without(
    pairs: Sequence[Pair], structure: Sequence[Collection[int]], iterations: int, closely: bool = False
) -> list[Links]:
    """The same where some units of each pair are known to be structure, such as the separators of lists.

    `structure` has their positions. A word between two items is then no name of the separator.
    """
    without = [
        replace(pair, target=tuple(unit for place, unit in enumerate(pair.target) if place not in places))
        for pair, places in zip(pairs, structure, strict=True)
    ]
    found = zip(link_words(without, iterations, closely), structure, strict=True)
    return [links.with_structure(places) for links, places in found]


def _partners(
    both: Mapping[tuple[str, str], int], words: Mapping[str, int], units: Mapping[str, int], pairs: int
) -> dict[str, str]:
    """For units that nearly always come with a word, and the word with them, that word.

    Of several words that mean a unit together, as in `the earliest of the`, an aligner is sure of none. Units
    of nearly all pairs are structure.
    """
    shares = {
        (unit, word): count / max(words[word], units[unit])
        for (word, unit), count in both.items()
        if max(LEAST, PARTNERS * words[word], PARTNERS * units[unit]) <= count < PARTNERS * pairs
    }
    return dict(sorted(shares, key=lambda both: (shares[both], len(both[1]), both)))  # the longest of equals


def _named_alike(pairs: Sequence[Pair]) -> dict[str, str]:
    """For units that differ in their number of arguments only, the word that is as frequent as they together.

    `hives` is such a word for `hives` and for `hives/1`. Neither of the two has it as a partner.
    """
    families = defaultdict[str, set[str]](set)
    for unit in {unit for pair in pairs for unit in pair.target}:
        families[without_arity(unit)].add(unit)
    name_of = {unit: name for name, units in families.items() if len(units) > 1 for unit in units}
    words_of: dict[str, set[str]] = {}
    for pair in pairs:
        times = Counter(pair.source)
        for name, count in Counter(name_of[unit] for unit in pair.target if unit in name_of).items():
            equal = {word for word, number in times.items() if number == count}
            words_of[name] = words_of.get(name, equal) & equal
    with_word = Counter(word for pair in pairs for word in set(pair.source))
    with_name = Counter(
        name for pair in pairs for name in {name_of[unit] for unit in pair.target if unit in name_of}
    )
    found: dict[str, str] = {}
    for name, words in words_of.items():
        only = [word for word in words if with_word[word] == with_name[name] >= ALIKE]
        found |= dict.fromkeys(families[name], only[0]) if len(only) == 1 else {}
    return found


def named_apart(pairs: Sequence[Pair], iterations: int) -> set[tuple[str, str]]:
    """Adjacent target tokens that two words name. As one unit, each of the words would write both."""
    together, apart = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for pair, links in zip(pairs, link_words(pairs, iterations), strict=True):
        for (place, first), second in zip(enumerate(pair.target), pair.target[1:], strict=False):
            words = links.words([place]), links.words([place + 1])
            together[first, second] += 1
            apart[first, second] += all(words) and words[0] != words[1]
    return {tokens for tokens, count in apart.items() if count > APART * together[tokens]}


def _best_words(pair: Pair, posterior: Array) -> Iterator[int | None]:
    """For each unit the position of its word, if the aligner is sure, and the sentence has the word once."""
    counts = Counter(pair.source)
    for column in posterior[1:].T:  # the first row is the start token
        word = int(column.argmax())
        yield word if column[word] >= SURE and counts[pair.source[word]] == 1 else None
