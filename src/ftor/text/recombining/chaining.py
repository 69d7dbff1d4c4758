"""Pairs put together from others: two sentences and the word that joins them become three and more.

In `may 9 and june 3` the word `and` joins two sentences: what stands before and after it looks like a whole
sentence, its target has two parts in the same way, and no link of the aligner crosses. If that is so for
nearly all pairs with `and`, sentences can be chained with it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from random import Random
from typing import NamedTuple

from ftor.ops.arrays import Array
from ftor.text.aligning import poisson
from ftor.text.reading import Pair
from ftor.text.recombining.substituting import GROWTH, TRIES
from ftor.text.seeds import derived_seed

LEAST_PAIRS = 5
"""Pairs that a word must be seen to join."""
LEAST_SHARE = 0.95
"""Share of the pairs with a word in which it joins two sentences."""
LONGEST_JOINT = 2
"""Target tokens that may stand between the targets of two sentences."""
SURE = 0.5
"""Least posterior of a link."""

Tokens = tuple[str, ...]


class Sentence(NamedTuple):
    """A sentence with its target, whole or joined to others."""

    source: Tokens
    target: Tokens


class Joint(NamedTuple):
    """How a word joins two sentences.

    Attributes:
        word: that stands between the sentences.
        tokens: that stand between their targets.
        is_swapped: whether the target of the second one comes first.
    """

    word: str
    tokens: Tokens
    is_swapped: bool

    def join(self, first: Sentence, second: Sentence) -> Sentence:
        """The two sentences as one."""
        targets = (second, first) if self.is_swapped else (first, second)
        joined = targets[0].target + self.tokens + targets[1].target
        return Sentence((*first.source, self.word, *second.source), joined)


class Chains:
    """What the words that join sentences are, and the sentences that they join.

    Args:
        pairs: training pairs.
        iterations: EM iterations of the aligner.
    """

    def __init__(self, pairs: Sequence[Pair], iterations: int) -> None:
        posteriors = poisson(pairs, iterations, start_token=False)
        self._pairs = list(pairs)
        self._known = {pair.source: pair.target for pair in pairs}
        self._joints: dict[Joint, list[tuple[Sentence, Sentence]]] = {}
        for word, rows in self._candidates().items():
            found = self._joint(word, [(pairs[row], posteriors[row]) for row in rows])
            if found is not None:
                self._joints[found[0]] = found[1]

    @property
    def joints(self) -> list[Joint]:
        """How sentences can be joined."""
        return list(self._joints)

    def draw(self, count: int, seed: int) -> list[Pair]:
        """New pairs, of up to one sentence more than those of training, at most `count`.

        Chains have one kind of joint. Where it swaps targets, there is no telling how three are put together.
        """
        words = {joint.word for joint in self._joints}
        whole = [Sentence(pair.source, pair.target) for pair in self._pairs]
        parts: dict[Joint, list[Sentence]] = {}
        for joint, cases in self._joints.items():
            plain = [one for one in (*whole, *chain.from_iterable(cases)) if not words & {*one.source}]
            if not joint.is_swapped and len(plain) >= LEAST_PAIRS:
                parts[joint] = plain
        if not parts:
            return []
        random = Random(derived_seed("chained pairs", seed))
        most = {joint: max(pair.source.count(joint.word) for pair in self._pairs) for joint in parts}
        longest = GROWTH * max(len(pair.target) for pair in self._pairs)
        drawn: dict[Tokens, Pair] = {}
        for _ in range(TRIES * count):
            if len(drawn) == count:
                break
            joint = random.choice(list(parts))
            new = random.choice(parts[joint])
            for _ in range(random.randint(1, most[joint] + 1)):
                new = joint.join(new, random.choice(parts[joint]))
            if new.source not in self._known and len(new.target) <= longest:
                pair = replace(self._pairs[0], source=new.source, target=new.target, target_text="")
                drawn.setdefault(new.source, pair)
        return list(drawn.values())

    def _candidates(self) -> Mapping[str, list[int]]:
        """The words that occur inside enough sentences, with the rows of their pairs."""
        rows: dict[str, list[int]] = defaultdict(list)
        for row, pair in enumerate(self._pairs):
            for word in dict.fromkeys(pair.source[1:-1]):
                rows[word].append(row)
        counts = Counter(word for pair in self._pairs for word in {*pair.source})
        return {
            word: some
            for word, some in rows.items()
            if len(some) >= LEAST_PAIRS and counts[word] < len(self._pairs)
        }

    def _joint(
        self, word: str, aligned: Sequence[tuple[Pair, Array]]
    ) -> tuple[Joint, list[tuple[Sentence, Sentence]]] | None:
        """How a word joins sentences, if it does."""
        without = [pair for pair in self._pairs if word not in pair.source]
        is_whole = _Wholes(without, [pair for pair, _ in aligned])
        cases: dict[tuple[Tokens, bool], dict[int, tuple[Sentence, Sentence]]] = defaultdict(dict)
        told = set()
        for row, (pair, posterior) in enumerate(aligned):
            for at in (at for at, other in enumerate(pair.source) if other == word):
                for tokens, is_swapped, first, second in _splits(pair, posterior, at):
                    told.add(row)
                    if is_whole(first) and is_whole(second) and self._agrees(first) and self._agrees(second):
                        cases[tokens, is_swapped].setdefault(row, (first, second))
        if not cases:
            return None
        (tokens, is_swapped), found = max(cases.items(), key=lambda case: len(case[1]))
        if len(found) < max(LEAST_PAIRS, LEAST_SHARE * len(told)):
            return None
        return Joint(word, tokens, is_swapped), list(found.values())

    def _agrees(self, part: Sentence) -> bool:
        """Whether no pair has the same source and another target."""
        return self._known.get(part.source, part.target) == part.target


class _Wholes:
    """Tells whether a part looks like a whole sentence: it starts and ends like one, and lacks no word.

    Args:
        pairs: whole sentences without the word that joins.
        joined: sentences with it. A word that only these have asks for the word that joins.
    """

    def __init__(self, pairs: Sequence[Pair], joined: Sequence[Pair]) -> None:
        self._starts = {pair.source[0] for pair in pairs}, {pair.target[0] for pair in pairs}
        self._finals = {pair.source[-1] for pair in pairs}, {pair.target[-1] for pair in pairs}
        known = {word for pair in pairs for word in pair.source}
        counts = Counter(word for pair in joined for word in {*pair.source} - known)
        self._asking = {word for word, count in counts.items() if count >= LEAST_PAIRS}

    def __call__(self, part: Sentence) -> bool:
        sides = (part.source, part.target)
        return (
            all(side and side[0] in starts for side, starts in zip(sides, self._starts, strict=True))
            and all(side[-1] in finals for side, finals in zip(sides, self._finals, strict=True))
            and not self._asking & {*part.source}
        )


def _splits(pair: Pair, posterior: Array, at: int) -> Iterator[tuple[Tokens, bool, Sentence, Sentence]]:
    """The ways to split a pair at a word of its source such that no sure link crosses."""
    linked = {j: {*(column >= SURE).nonzero()[0].tolist()} for j, column in enumerate(posterior.T)}
    before = [j for j, words in linked.items() if words and max(words) < at]
    after = [j for j, words in linked.items() if words and min(words) > at]
    if not before or not after:
        return
    is_swapped = min(after) < min(before)
    left, right = (after, before) if is_swapped else (before, after)
    for end in range(max(left) + 1, min(right) + 1):
        for start in range(end, min(end + LONGEST_JOINT, min(right)) + 1):
            targets = pair.target[:end], pair.target[start:]
            first, second = reversed(targets) if is_swapped else targets
            yield (
                pair.target[end:start],
                is_swapped,
                Sentence(pair.source[:at], first),
                Sentence(pair.source[at + 1 :], second),
            )
