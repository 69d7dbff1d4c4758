"""What words of a sentence name: names of several words, and constants beside the functions above them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeVar

from ftor.text.programs.units import Tree, Unit

Name = TypeVar("Name", bound=Hashable)

Neighbours = tuple[str, str]

SHARE = 0.5
"""More than this share of the pairs with two words side by side have them so in the source, too."""
LEAST = 2
"""The least number of such pairs."""
NAMED = 0.95
"""Least share of the pairs with a part whose sentences have the word that names it."""
ELSEWHERE = 0.5
"""A word names no part if more than this share of the other sentences have it."""


def neighbours_in_sources(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> set[Neighbours]:
    """Adjacent words of targets that usually are adjacent, in the same order, in the source of their pair.

    Upper and lower case are the same in sources.

    Args:
        pairs: the words of sources and of targets.
    """
    of_targets, of_both = Counter[Neighbours](), Counter[Neighbours]()
    for source, target in pairs:
        known = set(pairwise(word.lower() for word in source))
        for first, second in set(pairwise(target)):
            of_targets[first, second] += 1
            of_both[first, second] += (first.lower(), second.lower()) in known
    return {both for both, count in of_both.items() if count >= LEAST and count > SHARE * of_targets[both]}


def words_of_names(neighbours: Collection[Neighbours], arities: Mapping[str, int]) -> frozenset[str]:
    """The words of names such as `new york`, which prefix order reads as a chain that ends in a leaf.

    `largest state` is no name if `state` takes an argument.
    """
    words = set[str]()
    size = -1
    while size != (size := len(words)):
        for first, second in neighbours:
            if arities.get(first, 0) == 1 and (second in words or not arities.get(second, 0)):
                words |= {first, second}
    return frozenset(words)


def constants_named_apart(
    sentences: Sequence[Collection[str]], programs: Sequence[Collection[tuple[Name, Name]]]
) -> set[Name]:
    """Constants that a word of their own names, while another word names what stands above them.

    In `copied Iris ⇥ (copy_of Iris)`, training may have `Iris` below `copy_of` only. As one unit, the word
    would always write both, also in `sold Iris`. In `red ⇥ (color red)` no other word names `color`.

    Args:
        sentences: the words of each sentence.
        programs: for each sentence, the functions of its program with the constants directly below them.
    """
    words = [set(sentence) for sentence in sentences]
    of_word = Counter(word for some in words for word in some)
    of_parent, of_constant = defaultdict[Name, list[int]](list), defaultdict[Name, list[int]](list)
    parents = defaultdict[Name, set[Name]](set)
    for place, some in enumerate(programs):
        for parent in {parent for parent, _ in some}:
            of_parent[parent].append(place)
        for parent, constant in set(some):
            of_constant[constant].append(place)
            parents[constant].add(parent)

    def names_of(places: Sequence[int]) -> dict[str, int]:
        """The words that name what stands in these programs, and how often they stand with it."""
        both = Counter(word for place in places for word in words[place])
        others = len(words) - len(places)  # without any, no word can be told from the frame of all sentences
        return {
            word: count
            for word, count in both.items()
            if others and count >= NAMED * len(places) and of_word[word] - count <= ELSEWHERE * others
        }

    @cache
    def names_of_parent(parent: Name) -> dict[str, int]:
        return names_of(of_parent[parent])

    def is_named(constant: Name, parent: Name) -> bool:
        places = of_constant[constant]
        own = {word for word, count in names_of(places).items() if count >= NAMED * of_word[word]}
        return bool(own) and bool(names_of_parent(parent).keys() - own)

    only = {constant: next(iter(some)) for constant, some in parents.items() if len(some) == 1}
    return {constant for constant, parent in only.items() if is_named(constant, parent)}


def edges(tree: Tree) -> Iterator[tuple[Unit, Unit]]:
    """The units of a tree that have a leaf directly below them, with the leaf."""
    waiting, seen = [tree], {tree}
    while waiting:
        parent = waiting.pop()
        for filler in parent.fillers:
            for child in filler if isinstance(filler, tuple) else (filler,):
                if not child.fillers:
                    yield parent.unit, child.unit
                elif child not in seen:
                    seen.add(child)
                    waiting.append(child)
