"""Targets of which nearly all are programs in prefix order without brackets."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ftor.text.programs.arities import find_arities, first_unsolved, is_one_tree
from ftor.text.programs.finding import LENGTHS

BRACKETS = frozenset("([{")
Target = Sequence[str]
LEAST_TARGETS = 20
NEARLY_ALL = 0.95
"""Least share of the targets that are trees."""
PREDICTED = 0.8
"""Least share of the trees that the arities of the other half make trees, too. Sentences reach a tenth."""
FUNCTIONS = 4
"""Least number of symbols with arguments that several targets have."""
BRANCHING = 0.1
"""Least share of the trees that have a symbol with several arguments."""
SAMPLE = 200
"""From more targets, arities are first found from a sample."""
TRIES = 30
"""Of `find_arities`. Programs need few."""
OFTEN = 0.2
"""An order with more exceptions than this share of the targets so far is given up."""
ORDERS = 20
"""In so many orders exceptions are looked for: an early one makes the others look like exceptions."""


class AlmostPrefix(NamedTuple):
    """Targets that are programs in prefix order, but for a few.

    Attributes:
        arities: the number of arguments of each symbol.
        exceptions: the places of the targets that are no trees.
    """

    arities: dict[str, int]
    exceptions: list[int]


def almost_prefix(targets: Sequence[Target]) -> AlmostPrefix | None:
    """How nearly all targets are read in prefix order. None if they are not, or if sentences could be."""
    if len(targets) < LEAST_TARGETS or not all(targets):
        return None
    first, count = Counter(target[0] for target in targets).most_common(1)[0]
    if count < NEARLY_ALL * len(targets) or first in BRACKETS:
        return None
    rooted = [target for target in targets if target[0] == first]
    known = _arities(rooted[:: -(-len(rooted) // SAMPLE)])
    if known is None:
        return None
    arities = _arities([target for target in rooted if not _contradicts(target, known)])
    if arities is None:
        return None
    exceptions = [
        place
        for place, target in enumerate(targets)
        if target[0] != first or not is_one_tree(target, arities)
    ]
    without = set(exceptions)
    trees = [target for place, target in enumerate(targets) if place not in without]
    if len(trees) < NEARLY_ALL * len(targets) or not _are_programs(trees, arities):
        return None
    return AlmostPrefix(arities, exceptions)


def _arities(targets: Sequence[Target]) -> dict[str, int] | None:
    """Arities that make nearly all targets trees, if they are found soon."""
    for seed in range(ORDERS):
        order = list(targets)
        if seed:
            random.Random(seed).shuffle(order)
        most = len(order) - NEARLY_ALL * len(order)
        place = left_out = 0
        while (arities := find_arities(order, TRIES)) is None:
            place = first_unsolved(order, place, TRIES)
            del order[place]
            left_out += 1
            if left_out > min(most, 1 + OFTEN * place):
                break
        if arities is not None:
            return arities
    return None


def _contradicts(target: Target, arities: Mapping[str, int]) -> bool:
    return all(token in arities for token in target) and not is_one_tree(target, arities)


def _are_programs(trees: Sequence[Target], arities: Mapping[str, int]) -> bool:
    """Whether trees have functions that branch, and predict each other."""
    targets_with = Counter(token for tree in trees for token in set(tree))
    functions = [token for token, count in targets_with.items() if arities[token] and count > 1]
    branching = sum(any(arities[token] > 1 for token in tree) for tree in trees)
    if (
        len(functions) < FUNCTIONS
        or branching < BRANCHING * len(trees)
        or len({len(tree) for tree in trees}) < LENGTHS
    ):
        return False
    half = find_arities(trees[::2], TRIES)
    if half is None:
        return False
    others = trees[1::2]
    return sum(is_one_tree(tree, half) for tree in others) >= PREDICTED * len(others)
