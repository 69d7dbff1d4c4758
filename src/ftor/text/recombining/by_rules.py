"""Recombined pairs whose parts are constituents of a grammar, in rounds."""

from collections.abc import Sequence
from dataclasses import replace

from ftor.text.programs.pairs import encode_pairs
from ftor.text.programs.rules import RuleUnits
from ftor.text.reading import Pair
from ftor.text.recombining.recombiner import Recombiner

ROUNDS = 3
"""Each round takes the pairs of those before it apart, too, and changes one part of them."""


def recombined_by_rules(
    pairs: Sequence[Pair], units: RuleUnits, count: int, seed: int, iterations: int, grow_lists: bool
) -> list[Pair]:
    """At most `count` recombined pairs.

    Args:
        pairs: training pairs with targets in units. Those that the grammar does not derive are left out.
        units: the units and their grammar.
        count: how many pairs.
        seed: the same seed gives the same pairs.
        iterations: EM iterations of the aligner.
        grow_lists: whether half of the pairs have longer lists than is usual in training.
    """
    made: list[Pair] = []
    spelled = [replace(pair, target=tuple(units.spell(pair.target))) for pair in pairs]
    derived = [pair for pair in spelled if units.trees.derives(pair.target, pair.source)]
    for number in range(ROUNDS if derived else 0):
        wanted = round(count * (number + 1) / ROUNDS) - len(made)
        recombiner = Recombiner([*derived, *made], units.trees, iterations, grow_lists=grow_lists)
        made += recombiner.draw(wanted, seed + number)
    return encode_pairs(units, made)
