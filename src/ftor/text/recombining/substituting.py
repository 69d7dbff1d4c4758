"""Pairs put together from others: a whole pair that stands in another one is replaced by a third.

`open the door and turn left` contains `turn left`, and its target the target of `turn left`. If that is so
for all pairs between `and` and the end of a sentence, any pair of the same lengths can stand
there, and in brackets any pair. One with an `and` can, if training has some, and the tokens around their
targets are those around others. In `7 , 4 5 , 6` they are not: the part `4 5 , 6` makes the seven a million,
`4 5` a thousand. The same holds for `, 6` in the part `5 , 6`, although no comma is beside that part.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from random import Random
from typing import NamedTuple

from ftor.text.reading import Pair
from ftor.text.recombining.fluency import NGrams
from ftor.text.seeds import derived_seed

LEAST_PARTS = 5
"""Different pairs that must have been seen in a context."""
LEAST_SHARE = 0.95
"""Share of the pairs in a context whose targets are parts of the target."""
EXPECTED = 6.0
"""Words that chance would have put into brackets so often should be there sometimes."""
RARER = 0.1
"""Words that parts in a context have in so small a share of the usual cases are there by accident."""
NESTED_SHARE = 0.8
"""Share of the parts with a word of their context that stand between the same target tokens as others."""
GROWTH = 1.6
"""New targets are at most so many times as long as the longest of training."""
TRIES = 20
"""Draws for each pair that is asked for."""

Tokens = tuple[str, ...]
Words = tuple[str | None, str | None]
"""Before and after a part; None at the ends of a sentence."""


class Place(NamedTuple):
    """Where a pair stands in another one: source tokens `first:last`, target tokens `start:end`."""

    pair: Pair
    first: int
    last: int
    start: int
    end: int

    @property
    def neighbours(self) -> Tokens:
        """The target tokens before and after it."""
        target = self.pair.target
        return *target[self.start - 1 : self.start], "", *target[self.end : self.end + 1]

    @property
    def beside(self) -> list[tuple[str, bool]]:
        """The target tokens before and after it, each with whether it is the one after."""
        target = self.pair.target
        sides = target[max(self.start - 1, 0) : self.start], target[self.end : self.end + 1]
        return [
            (token, is_after)
            for tokens, is_after in zip(sides, (False, True), strict=True)
            for token in tokens
        ]

    @property
    def part(self) -> Tokens:
        """Its source tokens."""
        return self.pair.source[self.first : self.last]

    @property
    def outside(self) -> tuple[Tokens, Tokens]:
        """The source tokens and the target tokens of the other pair that are not its own."""
        source, target = self.pair.source, self.pair.target
        return source[: self.first] + source[self.last :], target[: self.start] + target[self.end :]


class _Fitting(NamedTuple):
    """The pairs that can stand in a context, and whether that is in brackets."""

    context: "_Context"
    pairs: list[Pair]
    in_brackets: bool

    def has_room(self, place: Place, part: Pair) -> bool:
        """Whether a part leaves the rest of a sentence as it is, as far as its length and words tell."""
        source, _ = place.outside
        if self.in_brackets:
            return True
        size, other = place.end - place.start, len(part.target)
        if not self.context.are_alike(size, other) or not self.context.are_alike(other, size):
            return False
        return self.context.can_have_length(place, len(part.source)) and all(
            self.context.leaves_rest(word, source.count(word)) for word in {*part.source} & {*source}
        )


class _Context:
    """The pairs that were seen between two words, and where their targets are parts.

    Args:
        words: the two.
    """

    def __init__(self, words: Words) -> None:
        self._words = {word for word in words if word is not None}
        self._parts: set[Tokens] = set()
        self._seen, self._kept = 0, 0
        self._seen_with, self._kept_with = Counter[str](), Counter[str]()
        self._leaves_rest: dict[tuple[str, int], bool] = {}
        self._neighbours: dict[int, set[Tokens]] = {}
        self._beside: dict[int, Counter[tuple[str, bool]]] = {}
        self._sizes = Counter[int]()
        self.places: list[Place] = []

    def add(self, pair: Pair, first: int, last: int, part: Tokens) -> None:
        """Add the words `first:last` of a pair, whose own target is `part`."""
        starts = _starts(pair.target, part)
        self._parts.add(pair.source[first:last])
        self._seen += 1
        self._kept += bool(starts)
        self._seen_with.update({*pair.source[first:last]})
        self._kept_with.update({*pair.source[first:last]} if starts else ())
        if len(starts) == 1:
            self.places.append(Place(pair, first, last, starts[0], starts[0] + len(part)))

    @property
    def is_free(self) -> bool:
        """Whether other pairs can stand here."""
        many = len(self._parts) >= LEAST_PARTS and bool(self.places)
        return many and self._kept >= LEAST_SHARE * self._seen

    def fitting(self, pairs: Sequence[Pair]) -> "_Fitting":
        """The pairs that can stand here: in brackets any pair, else those of known lengths and words."""
        spans = [place.part for place in self.places]
        lengths, edges = {*map(len, spans)}, {(span[0], span[-1]) for span in spans}
        strange = {word for word in self._words if not self._nests(word)}
        counts, total = Counter(word for pair in pairs for word in {*pair.source}), len(pairs)
        brackets = self._words if _are_brackets(self._words, pairs) else {*next(iter(edges))}
        in_brackets = brackets is self._words
        if not in_brackets and len(edges) == 1 and _are_brackets(brackets, pairs):
            ((left, right),) = edges
            pairs = [pair for pair in pairs if _is_bracketed(pair.source, left, right)]
            in_brackets = True
        if in_brackets:  # in `before A , B` they may be none: then words are missing in them
            often = {word for word, count in counts.items() if count * self._seen >= EXPECTED * total}
            strange |= {word for word in often - brackets if not self._is_usual(word, counts[word] / total)}
        else:  # a word such as `and` may bind less than the words around the part
            known = {word for span in spans for word in span if self._is_usual(word, counts[word] / total)}
            pairs = [pair for pair in pairs if len(pair.source) in lengths and known.issuperset(pair.source)]
        return _Fitting(self, [pair for pair in pairs if not strange & {*pair.source}], in_brackets)

    def _is_usual(self, word: str, share: float) -> bool:
        """Whether parts with a word are kept, and not far rarer than in a share of all pairs.

        In `before A , B ; C` the part `B ; C` is kept only by accident, if A and B are the same.
        """
        kept, seen = self._kept_with[word], self._seen_with[word]
        return kept >= max(LEAST_SHARE * seen, RARER * share * self._seen)

    def _nests(self, word: str) -> bool:
        """Whether parts with a word of the context stand between the same target tokens as others."""
        around: dict[bool, list[Tokens]] = {True: [], False: []}
        for place in self.places:
            around[word in place.part].append(place.neighbours)
        usual = {*around[False]}
        alike = sum(tokens in usual for tokens in around[True])
        return not usual or (alike > 0 and alike >= NESTED_SHARE * len(around[True]))

    def can_have_length(self, place: Place, length: int) -> bool:
        """Whether parts of a length stand between no other target tokens than those of a place's length.

        In `7 1 2 , 3 4 5` a part of six words makes the 7 seven hundred, in `7 5 , 1 2 3` one of five words
        makes it seventy.
        """
        if not self._neighbours:
            for one in self.places:
                self._neighbours.setdefault(len(one.part), set()).add(one.neighbours)
        there, here = self._neighbours.get(length, set()), self._neighbours[len(place.part)]
        return place.neighbours in there or there <= here

    def are_alike(self, size: int, other: int) -> bool:
        """Whether no token stands beside all parts with targets of one size, but beside few of the other.

        In numbers, two digits after `thousand` have a zero before them, three digits have none.
        """
        if not self._beside:
            for one in self.places:
                count = one.end - one.start
                self._sizes[count] += 1
                self._beside.setdefault(count, Counter()).update(one.beside)
        here, there = self._sizes[size], self._sizes[other]
        if size == other or here < LEAST_PARTS:
            return True
        always = [side for side, count in self._beside[size].items() if count >= LEAST_SHARE * here]
        return all(self._beside.get(other, Counter())[side] >= there / 2 for side in always)

    def leaves_rest(self, word: str, count: int) -> bool:
        """Whether parts with a word that the rest has so often, too, leave the rest's tokens as usual."""
        if (word, count) not in self._leaves_rest:
            rests: dict[bool, list[Tokens]] = {True: [], False: []}
            for place in self.places:
                source, target = place.outside
                if source.count(word) == count:
                    rests[word in place.part].append(target)
            usual = {token for target in rests[False] for token in target}
            alike = sum(usual.issuperset(target) for target in rests[True])
            leaves = not usual or (alike > 0 and alike >= NESTED_SHARE * len(rests[True]))
            self._leaves_rest[word, count] = leaves
        return self._leaves_rest[word, count]


def _are_brackets(words: Collection[str], pairs: Sequence[Pair]) -> bool:
    """Whether two words open and close."""
    if len(words) != 2:
        return False
    one, other = words
    return all(pair.source.count(one) == pair.source.count(other) for pair in pairs)


def _is_bracketed(words: Tokens, left: str, right: str) -> bool:
    """Whether the first of some words opens a bracket that the last one closes: not `( a ) * ( b )`."""
    depths = list(accumulate((word == left) - (word == right) for word in words))
    return depths[-1] == 0 and all(depth > 0 for depth in depths[:-1])


def substituted(pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """New pairs, at most `count`. Their sources are not among those of `pairs`.

    All of their parts that stand in free contexts agree with them, not only the one that is new.
    """
    targets = {pair.source: pair.target for pair in pairs}
    free = {words: context for words, context in _contexts(pairs, targets).items() if context.is_free}
    places = [
        (place, fitting)
        for context in free.values()
        if (fitting := context.fitting(pairs)).pairs
        for place in context.places
    ]
    if not places:
        return []
    draw, ngrams = Random(derived_seed("substituted", seed)), NGrams(pair.source for pair in pairs)
    longest = GROWTH * max(len(pair.target) for pair in pairs)
    made: dict[Tokens, Pair] = {}
    for _ in range(TRIES * count):
        if len(made) == count:
            break
        place, fitting = draw.choice(places)
        part = draw.choice(fitting.pairs)
        new = _replaced(place, part)
        seams = place.first, place.first + len(part.source)
        is_fluent = fitting.in_brackets or ngrams.have_seams(new.source, seams)
        is_fluent = is_fluent and fitting.has_room(place, part)
        is_new = new.source not in made and new.source not in targets and len(new.target) <= longest
        if is_new and is_fluent and _agrees(new, targets, free):
            made[new.source] = new
    return list(made.values())


def _agrees(pair: Pair, targets: Mapping[Tokens, Tokens], free: Collection[Words]) -> bool:
    """Whether the targets of all parts in free contexts are parts of the target."""
    return all(
        _starts(pair.target, targets[pair.source[first:last]])
        for first, last in _spans(pair.source, targets)
        if _around(pair.source, first, last) in free
    )


def _starts(target: Tokens, part: Tokens) -> list[int]:
    """Where a part starts in a target."""
    return [j for j in range(len(target) - len(part) + 1) if target[j : j + len(part)] == part]


def _replaced(place: Place, part: Pair) -> Pair:
    source, target = place.pair.source, place.pair.target
    return replace(
        place.pair,
        source=source[: place.first] + part.source + source[place.last :],
        target=target[: place.start] + part.target + target[place.end :],
        target_text="",
    )


def _contexts(pairs: Sequence[Pair], targets: Mapping[Tokens, Tokens]) -> dict[Words, _Context]:
    """The contexts, by the words before and after."""
    contexts: dict[Words, _Context] = {}
    for pair in pairs:
        for first, last in _spans(pair.source, targets):
            words = _around(pair.source, first, last)
            context = contexts.setdefault(words, _Context(words))
            context.add(pair, first, last, targets[pair.source[first:last]])
    return contexts


def _around(source: Tokens, first: int, last: int) -> Words:
    """The words before and after a part."""
    return (source[first - 1] if first else None, source[last] if last < len(source) else None)


def _spans(source: Tokens, known: Container[Tokens]) -> Iterator[tuple[int, int]]:
    """The parts of a source, of two words or more, that are sources of whole pairs."""
    for first in range(len(source)):
        for last in range(first + 2, len(source) + 1):
            if last - first < len(source) and source[first:last] in known:
                yield first, last
