"""Whether sources and targets belong together: words that occur in the same pairs, compared with chance."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftor.ops.arrays import Array
from ftor.text.reading import Pair

WORDS = 200
"""Most frequent words of each side that are compared."""
PAIRS = 1000
DRAWS = 5
LEAST_PAIRS = 20
"""With fewer pairs chance does as well."""


class Association(NamedTuple):
    """How well the best source word tells whether a target word occurs: mean φ over target words.

    Attributes:
        found: of the pairs as they are.
        by_chance: the most that targets in a random order give.
    """

    found: float
    by_chance: float

    @property
    def is_chance(self) -> bool:
        """Whether sources tell no more about targets than chance does."""
        return self.found <= 1.1 * self.by_chance


def association(pairs: Sequence[Pair]) -> Association | None:
    """Compare pairs with pairs in which targets are in a random order. None if there are too few."""
    pairs = pairs[:: max(1, len(pairs) // PAIRS)]
    if len(pairs) < LEAST_PAIRS:
        return None
    source = _presence([pair.source for pair in pairs])
    target = _presence([pair.target for pair in pairs])
    if not (source.size and target.size):
        return None
    draw = np.random.default_rng(0)
    by_chance = max(_mean_phi(source, draw.permutation(target)) for _ in range(DRAWS))
    return Association(_mean_phi(source, target), by_chance)


def _presence(sentences: Sequence[Sequence[str]]) -> Array:
    """Which of the frequent words each sentence has: (N, W). Words that all have, or one, say nothing."""
    counts = Counter(word for sentence in sentences for word in dict.fromkeys(sentence))
    words = [word for word, count in counts.most_common() if 1 < count < len(sentences)][:WORDS]
    numbers = {word: number for number, word in enumerate(words)}
    presence = np.zeros((len(sentences), len(words)))
    for row, sentence in enumerate(sentences):
        presence[row, [numbers[word] for word in set(sentence) if word in numbers]] = 1
    return presence


def _mean_phi(source: Array, target: Array) -> float:
    """The correlation of each target word with its best source word, on average."""
    scaled = [(side - side.mean(0)) / side.std(0) for side in (source, target)]
    return float((scaled[0].T @ scaled[1] / len(source)).max(0).mean())
