"""Pairs in which a word stands for another one, with its tokens.

`dip left twice` and `wave left twice` differ in one word, and their targets in `DIP` and `WAVE`. If that is
so wherever training has two such sentences, `wave` can stand for `dip` in other sentences, too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import NamedTuple

from ftor.text.reading import Pair
from ftor.text.recombining.fluency import BOUNDARY, NGrams

LEAST = 10
"""At least this many couples of sentences that differ in one word must show how their targets differ."""
WORDS_AT_A_PLACE = 30
"""Words are compared at places where at most this many can stand. A place with more has names."""
LONGEST = 50
"""Sentences of more words than this are not compared."""

Tokens = tuple[str, ...]


class Swap(NamedTuple):
    """A word that may stand for another one.

    Attributes:
        word: that is replaced.
        other: that replaces it.
        token: of the word. All targets of sentences with the word have it.
        new: the token of the other word.
    """

    word: str
    other: str
    token: str
    new: str


class Swaps:
    """The words of training that can stand for each other.

    Args:
        pairs: training pairs with plain tokens.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._bigrams = NGrams(pair.source for pair in pairs).bigrams
        self._always = _always(pairs)
        self._swaps: defaultdict[str, list[Swap]] = defaultdict(list)
        # Words that only stand between others, such as `*` and `and`, may bind more or less than each other.
        edges = {word for pair in pairs for word in (pair.source[0], pair.source[-1])}
        for swap in _interchangeable(pairs):
            always = swap.token in self._always[swap.word] and swap.new in self._always[swap.other]
            if always and {swap.word, swap.other} <= edges:
                self._swaps[swap.word].append(swap)

    def drawn(self, pair: Pair, random: Random) -> Pair | None:
        """A pair with one other word, if there is one."""
        possible = [swap for word in dict.fromkeys(pair.source) for swap in self._of(pair, word)]
        while possible:
            new = self._with(pair, possible.pop(random.randrange(len(possible))))
            if new is not None:
                return new
        return None

    def _of(self, pair: Pair, word: str) -> Iterator[Swap]:
        """The swaps of a word whose tokens stand for it alone."""
        others = {*pair.source} - {word}
        for swap in self._swaps.get(word, ()):
            has_other = swap.other in others or swap.new in pair.target
            if not has_other and not any(swap.token in self._always[other] for other in others):
                yield swap

    def _with(self, pair: Pair, swap: Swap) -> Pair | None:
        """The pair with the other word, if training has the words beside it so, too."""
        source = tuple(swap.other if word == swap.word else word for word in pair.source)
        words = (BOUNDARY, *source, BOUNDARY)
        places = [place for place, word in enumerate(words) if word == swap.other]
        if any({words[at - 1 : at + 1], words[at : at + 2]} - self._bigrams for at in places):
            return None
        target = tuple(swap.new if token == swap.token else token for token in pair.target)
        return replace(pair, source=source, target=target, target_text="")


def _always(pairs: Sequence[Pair]) -> dict[str, set[str]]:
    """For each word the tokens of all its targets."""
    always: dict[str, set[str]] = {}
    for pair in pairs:
        for word in pair.source:
            always[word] = always.get(word, {*pair.target}) & {*pair.target}
    return always


def _interchangeable(pairs: Sequence[Pair]) -> Iterator[Swap]:
    """The words that differ alike in all sentences of training that differ in nothing else."""
    alike: defaultdict[Tokens, dict[str, Pair]] = defaultdict(dict)
    for pair in (pair for pair in pairs if len(pair.source) <= LONGEST):
        for word in dict.fromkeys(pair.source):
            alike[tuple("" if one == word else one for one in pair.source)][word] = pair
    seen: defaultdict[tuple[str, str], Counter[tuple[str, str] | None]] = defaultdict(Counter)
    for by_word in alike.values():
        if 1 < len(by_word) <= WORDS_AT_A_PLACE:
            for one, other in combinations(sorted(by_word), 2):
                seen[one, other][_differing(by_word[one].target, by_word[other].target)] += 1
    for (one, other), found in seen.items():
        ((tokens, count),) = found.most_common(1)
        if tokens is not None and len(found) == 1 and count >= LEAST:
            yield Swap(one, other, *tokens)
            yield Swap(other, one, *reversed(tokens))


def _differing(target: Tokens, other: Tokens) -> tuple[str, str] | None:
    """The token of a target that is another one in the other target, everywhere. None if more differs."""
    differ = {(token, new) for token, new in zip(target, other, strict=False) if token != new}
    if len(target) != len(other) or len(differ) != 1:
        return None
    ((token, new),) = differ
    return (token, new) if token not in other and new not in target else None
