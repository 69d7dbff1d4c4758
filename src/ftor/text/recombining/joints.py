"""Words that join two sentences, and how sentences with several of them are put together.

In `A after you B and C` training shows whether `after you` or `and` joins its sentences first: the target has
the blocks `b a c` or `b c a`. As an operator of a formula, each joint is compared with those before it.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from itertools import product
from statistics import median
from typing import NamedTuple

from ftor.grammar.nesting import is_missing
from ftor.text.reading import Pair

LEAST_PAIRS = 5
"""Pairs that must show that words join sentences."""
LEAST_ORDERS = 3
"""Pairs that must show which of two joints is first."""
EXPECTED = 3.0
"""Words do not go with a joint if chance would have put both together so often, but training never has."""
LEAST_SHARE = 0.9
"""Share of the pairs that must agree."""

Tokens = tuple[str, ...]


class Aligned(NamedTuple):
    """A pair, and for each target token the source words that it is surely linked to."""

    pair: Pair
    links: list[set[int]]

    def without(self, tokens: Container[str]) -> "Aligned":
        """The same without the links of some target tokens."""
        pairs = zip(self.pair.target, self.links, strict=True)
        return Aligned(self.pair, [set() if token in tokens else words for token, words in pairs])

    def changes_order(self, at: int, joint: "Joint") -> bool:
        """Whether what stands before and after the word `at` is not in the order of a joint."""
        before = [j for j, words in enumerate(self.links) if words and max(words) < at]
        after = [j for j, words in enumerate(self.links) if words and min(words) > at]
        if not before or not after:
            return False
        first, second = (after, before) if joint.is_swapped else (before, after)
        return max(first) > min(second)


class Sentence(NamedTuple):
    """A sentence with its target, whole or joined to others."""

    source: Tokens
    target: Tokens


class Joint(NamedTuple):
    """How words join two sentences.

    Attributes:
        words: that stand between the sentences.
        tokens: that stand between their targets.
        is_swapped: whether the target of the second one comes first.
    """

    words: Tokens
    tokens: Tokens
    is_swapped: bool

    def join(self, first: Sentence, second: Sentence) -> Sentence:
        """The two sentences as one. It does not matter which two of three are joined first."""
        targets = (second, first) if self.is_swapped else (first, second)
        joined = targets[0].target + self.tokens + targets[1].target
        return Sentence(first.source + self.words + second.source, joined)


def strange_words(joint: Joint, pairs: Sequence[Aligned]) -> set[str]:
    """Words that change the order and are never in a sentence with a joint, where chance would have put them.

    If no sentence has both `once` and `and`, training does not show whether `A once B and C` has `A once B`
    as a part, or `B and C`. That matters if `once` changes the order, and `and` does not.
    """
    with_word: dict[str, list[tuple[Aligned, int]]] = {}
    for pair in pairs:
        for at, word in enumerate(pair.pair.source):
            with_word.setdefault(word, []).append((pair, at))
    joined = [{*one.pair.source} for one in pairs if {*joint.words} <= {*one.pair.source}]
    beside = {word for words in joined for word in words}
    return {
        word
        for word, places in with_word.items()
        if word not in beside
        and is_missing(len(joined), len(places), len(pairs), EXPECTED)
        and sum(pair.changes_order(at, joint) for pair, at in places) > (1 - LEAST_SHARE) * len(places)
    }


class Joints:
    """Joints, and which of two joins its sentences first.

    Args:
        joints: all of them.
        pairs: training pairs that show it.
    """

    def __init__(self, joints: Iterable[Joint], pairs: Iterable[Aligned]) -> None:
        self._joints = sorted(joints, key=lambda joint: -len(joint.words))
        self._is_first: dict[tuple[Joint, Joint], bool] = {}
        self._most: Counter[Joint | None] = Counter()
        shown: dict[tuple[Joint, Joint], list[list[int]]] = {}
        for pair, links in pairs:
            places = self.places(pair.source)
            self._most |= Counter(joint for _, joint in places) + Counter({None: len(places)})
            if len(places) == 2 and (order := _order(links, places, len(pair.source))) is not None:
                shown.setdefault((places[0][1], places[1][1]), []).append(order)
        for both, orders in shown.items():
            for is_first in (True, False):
                if orders.count(_order_of(*both, is_first)) >= max(LEAST_ORDERS, LEAST_SHARE * len(orders)):
                    self._is_first.setdefault(both, is_first)
        for one, other in product(self._joints, repeat=2):
            if one == other or (one.is_swapped == other.is_swapped and (one, other) not in shown):
                self._is_first[one, other] = True  # both ways give the same target

    def places(self, source: Tokens) -> list[tuple[int, Joint]]:
        """Where joints stand in a source."""
        found, at = list[tuple[int, Joint]](), 0
        while at < len(source):
            here = (joint for joint in self._joints if source[at : at + len(joint.words)] == joint.words)
            joint = next(here, None)
            if joint is not None:
                found.append((at, joint))
            at += 1 if joint is None else len(joint.words)
        return found

    @property
    def most(self) -> int:
        """The most joints of a chain: one more than in training."""
        return self._most[None] + 1

    def may_follow(self, chain: Sequence[Joint]) -> list[Joint]:
        """The joints that can go on with a chain, each at most once more often than in training."""
        return [
            joint
            for joint in self._joints
            if chain.count(joint) <= self._most[joint]
            and all((one, joint) in self._is_first for one in chain)
        ]

    def join(self, sentences: Sequence[Sentence], chain: Sequence[Joint]) -> Sentence:
        """Sentences with joints between them, as one."""
        done, open_joints = [sentences[0]], list[Joint]()

        def close() -> None:
            second, first = done.pop(), done.pop()
            done.append(open_joints.pop().join(first, second))

        for joint, sentence in zip(chain, sentences[1:], strict=True):
            while open_joints and self._is_first[open_joints[-1], joint]:
                close()
            open_joints.append(joint)
            done.append(sentence)
        while open_joints:
            close()
        return done[0]


def _order_of(one: Joint, other: Joint, is_first: bool) -> list[int]:
    """The order of the targets of three sentences with two joints, of which `one` is closed first or last."""
    a, b, c = (Sentence((), (str(number),)) for number in range(3))
    one, other = (joint._replace(tokens=()) for joint in (one, other))
    joined = other.join(one.join(a, b), c) if is_first else one.join(a, other.join(b, c))
    return [int(number) for number in joined.target]


def _order(links: Sequence[set[int]], places: Sequence[tuple[int, Joint]], size: int) -> list[int] | None:
    """The order of the targets of sentences between joints. None if links leave it open."""
    starts = [0, *(at + len(joint.words) for at, joint in places)]
    ends = [*(at for at, _ in places), size]
    blocks = [
        [j for j, words in enumerate(links) if words and start <= min(words) and max(words) < end]
        for start, end in zip(starts, ends, strict=True)
    ]
    if not all(blocks):
        return None
    return sorted(range(len(blocks)), key=lambda number: median(blocks[number]))  # some links are wrong
