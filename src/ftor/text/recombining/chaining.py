"""Pairs put together from others: two sentences and the words that join them become three and more.

In `may 9 and june 3` the word `and` joins two sentences: what stands before and after it looks like a whole
sentence, its target has two parts in the same way, and no link of the aligner crosses. If that is so for
nearly all pairs with `and`, sentences can be chained with it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from random import Random

import numpy as np

from ftor.text.aligning import poisson
from ftor.text.reading import Pair
from ftor.text.recombining.joints import (
    LEAST_ORDERS,
    LEAST_PAIRS,
    LEAST_SHARE,
    Aligned,
    Joint,
    Joints,
    Sentence,
    Tokens,
    strange_words,
)
from ftor.text.recombining.substituting import GROWTH, TRIES
from ftor.text.seeds import derived_seed

LONGEST_JOINT = 3
"""Words that may stand between two sentences, and tokens between their targets."""
LOOSE_SHARE = 0.5
"""The share that is enough while links may be wrong, and the share of parts that start and end as usual."""
KNOWN_SHARE = 0.95
"""Share of the joined sentences with a known part that must agree with it. Of more than 20, one may not."""
SURE = 0.5
"""Least posterior of a link."""


class Chains:
    """The words that join sentences, and the sentences that they join.

    Args:
        pairs: training pairs.
        iterations: EM iterations of the aligner.
        are_trees: whether targets are trees, which show where one ends and the next one starts.
    """

    def __init__(self, pairs: Sequence[Pair], iterations: int, are_trees: bool = False) -> None:
        self._pairs, self._are_trees = list(pairs), are_trees
        self._known = {pair.source: pair.target for pair in pairs}
        self._candidates = self._find_candidates()
        self._single = [pair for pair in pairs if not _has_any(pair.source, self._candidates)]
        posteriors = poisson(pairs, iterations, start_token=False)
        aligned = [
            Aligned(pair, [set(np.flatnonzero(column >= SURE).tolist()) for column in posterior.T])
            for pair, posterior in zip(pairs, posteriors, strict=True)
        ]
        loose = self._find(aligned, LOOSE_SHARE)
        separators = {token for joint in loose for token in joint.tokens}
        aligned = [one.without(separators) for one in aligned]  # they are linked with words of other joints
        self._aligned = aligned
        self._joints = self._find(aligned, LEAST_SHARE)
        self._joining = {joint.words for joint in chain(loose, self._joints)}
        self._order = Joints(self._joints, aligned)

    def _find(self, aligned: Sequence[Aligned], share: float) -> dict[Joint, list[tuple[Sentence, Sentence]]]:
        """The joints that hold in a share of their pairs, and the sentences that they join."""
        found = (
            self._joint(words, [(aligned[row], at) for row, at in places], share)
            for words, places in self._candidates.items()
        )
        return dict(one for one in found if one is not None)

    @property
    def joints(self) -> list[Joint]:
        """How sentences can be joined."""
        return list(self._joints)

    def draw(self, count: int, seed: int) -> list[Pair]:
        """New pairs, of up to one sentence more than those of training, at most `count`.

        Several kinds of joints are in a chain only if training tells how they are put together.
        """
        parts = {joint: some for joint in self._joints if len(some := self._parts(joint)) >= LEAST_PAIRS}
        if not parts:
            return []
        random = Random(derived_seed("chained pairs", seed))
        longest = GROWTH * max(len(pair.target) for pair in self._pairs)
        drawn: dict[Tokens, Pair] = {}
        for _ in range(TRIES * count):
            if len(drawn) == count:
                break
            joints = self._draw_joints(random, list(parts))
            sentences = [random.choice(parts[joint]) for joint in (joints[0], *joints)]
            new = self._order.join(sentences, joints)
            if new.source not in self._known and len(new.target) <= longest:
                pair = replace(self._pairs[0], source=new.source, target=new.target, target_text="")
                drawn.setdefault(new.source, pair)
        return list(drawn.values())

    def _draw_joints(self, random: Random, joints: Sequence[Joint]) -> list[Joint]:
        """The joints of a chain."""
        drawn = [random.choice(joints)]
        for _ in range(random.randint(1, self._order.most) - 1):
            more = [joint for joint in self._order.may_follow(drawn) if joint in joints]
            if more:
                drawn.append(random.choice(more))
        return drawn

    def _parts(self, joint: Joint) -> list[Sentence]:
        """The sentences that a joint can join: whole ones and parts. No joint is in them."""
        strange = strange_words(joint, self._aligned)
        whole = (
            (Sentence(pair.source, pair.target),) for pair in self._pairs if strange.isdisjoint(pair.source)
        )
        return [
            part
            # Of three sentences, a target may be split at the wrong place.
            for parts in chain(whole, self._joints[joint])
            if not any(_has_any(part.source, self._joining) for part in parts)
            for part in parts
        ]

    def _find_candidates(self) -> Mapping[Tokens, list[tuple[int, int]]]:
        """Words between two sentences as far as their last and first words tell, with rows and places.

        Words with which sentences start or end do not join sentences.
        """
        starts, ends = ({pair.source[at] for pair in self._pairs} for at in (0, -1))
        edges = starts | ends
        places: dict[Tokens, list[tuple[int, int]]] = defaultdict(list)
        for row, pair in enumerate(self._pairs):
            source = pair.source
            for at in range(1, len(source) - 1):
                for end in range(at + 1, min(at + LONGEST_JOINT, len(source) - 1) + 1):
                    words = source[at:end]
                    if source[at - 1] in ends and source[end] in starts and not edges & {*words}:
                        places[words].append((row, at))
        return {words: some for words, some in places.items() if len({row for row, _ in some}) >= LEAST_PAIRS}

    def _joint(
        self, words: Tokens, places: Sequence[tuple[Aligned, int]], share: float
    ) -> tuple[Joint, list[tuple[Sentence, Sentence]]] | None:
        """How words join sentences, if they do. Words that single sentences have, too, do not."""
        without = [pair for pair in self._pairs if not _count(pair.source, words)]
        if len(without) < LEAST_PAIRS or any(set(words) & {*pair.source} for pair in self._single):
            return None
        wholes = _Wholes(without, [aligned.pair for aligned, _ in places], words)
        cases: dict[tuple[Tokens, bool], dict[int, tuple[Sentence, Sentence]]] = defaultdict(dict)
        told, alone, ambiguous = set[int](), set[int](), set[int]()
        usual = defaultdict[tuple[Tokens, bool], set[int]](set)
        for place, ((pair, links), at) in enumerate(places):
            first, second = pair.source[:at], pair.source[at + len(words) :]
            if not wholes.are_sources(first, second):
                continue
            if first in self._known or second in self._known:
                alone.add(place)
            for tokens, is_swapped, targets in _splits(pair.target, links, at, len(words)):
                told.add(place)
                both, case = (Sentence(first, targets[0]), Sentence(second, targets[1])), (tokens, is_swapped)
                is_usual = wholes.are_targets(*targets)
                if (tokens or is_usual) and all(map(self._agrees, both)):
                    one, other = targets[::-1] if is_swapped else targets
                    if (is_usual and place in usual[case]) or (place not in alone and one[-1] == other[0]):
                        ambiguous.add(place)
                    if place not in cases[case] or (is_usual and place not in usual[case]):
                        cases[case][place] = both
                    usual[case] |= {place} if is_usual else set()
        cases = {case: found for case, found in cases.items() if len(usual[case]) >= LOOSE_SHARE * len(found)}
        if not cases:
            return None
        case, found = max(cases.items(), key=lambda one: len(one[1]))
        if len(found) < max(LEAST_PAIRS, share * len(told)):
            return None
        joint, known = Joint(words, *case), told & alone
        if share >= LEAST_SHARE and not self._is_confirmed(joint, len(known & found.keys()), len(known)):
            return None
        return joint, [both for place, both in found.items() if place not in ambiguous]

    def _is_confirmed(self, joint: Joint, agreeing: int, known: int) -> bool:
        """Whether joined sentences agree with the pairs that have one of them alone.

        In numbers, `thousand` before three digits looks like a joint, but `4 8` after it is `0 4 8`. If no
        token, no other order and no tree marks a joint in targets, there must be such pairs.
        """
        least = 0 if joint.tokens or joint.is_swapped or self._are_trees else LEAST_ORDERS
        return agreeing >= least and known - agreeing <= max(1, (1 - KNOWN_SHARE) * known)

    def _agrees(self, part: Sentence) -> bool:
        """Whether no pair has the same source and another target."""
        return self._known.get(part.source, part.target) == part.target


def _count(source: Tokens, words: Tokens) -> int:
    """How often words occur in a source."""
    return sum(source[at : at + len(words)] == words for at in range(len(source) - len(words) + 1))


def _has_any(source: Tokens, some: Iterable[Tokens]) -> bool:
    return any(_count(source, words) for words in some)


class _Wholes:
    """Tells whether parts look like whole sentences: they start and end like one, and lack no word.

    Args:
        pairs: whole sentences without the words that join.
        joined: sentences with them. Another word that only these have asks for the words that join.
        words: that join.
    """

    def __init__(self, pairs: Sequence[Pair], joined: Sequence[Pair], words: Tokens) -> None:
        self._sources = {pair.source[0] for pair in pairs}, {pair.source[-1] for pair in pairs}
        self._targets = {pair.target[0] for pair in pairs}, {pair.target[-1] for pair in pairs}
        tokens = Counter(token for pair in [*pairs, *joined] for token in set(pair.target))
        self._rare = {token for token, count in tokens.items() if count < LEAST_PAIRS}
        known = {*words, *(word for pair in pairs for word in pair.source)}
        counts = Counter(word for pair in joined for word in {*pair.source} - known)
        self._asking = {word for word, count in counts.items() if count >= LEAST_PAIRS}

    def are_sources(self, *parts: Tokens) -> bool:
        """Whether parts of a source may be whole sources. They can have the words that join, too."""
        starts, ends = self._sources
        return all(
            part and part[0] in starts and part[-1] in ends and not self._asking & {*part} for part in parts
        )

    def are_targets(self, *parts: Tokens) -> bool:
        """Whether parts of a target may be whole targets. Any rare token may start or end one."""
        starts, ends = self._targets
        edges = ((part[0], starts) for part in parts), ((part[-1], ends) for part in parts)
        return all(parts) and all(
            token in some or token in self._rare for side in edges for token, some in side
        )


def _splits(
    target: Tokens, links: Sequence[set[int]], at: int, size: int
) -> Iterator[tuple[Tokens, bool, tuple[Tokens, Tokens]]]:
    """The ways to split a target at `size` words of its source such that no sure link crosses.

    Gives the tokens between the parts, whether the parts change places, and those of the first and the second
    part of the source.
    """
    before = [j for j, words in enumerate(links) if words and max(words) < at]
    after = [j for j, words in enumerate(links) if words and min(words) >= at + size]
    if not before or not after:
        return
    is_swapped = min(after) < min(before)
    left, right = (after, before) if is_swapped else (before, after)
    for end in range(max(left) + 1, min(right) + 1):
        for start in range(end, min(end + LONGEST_JOINT, min(right)) + 1):
            one, other = target[:end], target[start:]
            yield target[end:start], is_swapped, (other, one) if is_swapped else (one, other)
