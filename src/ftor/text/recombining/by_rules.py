"""Recombined pairs whose parts are constituents of a grammar, in rounds."""

from collections.abc import Sequence
from dataclasses import replace

from ftor.reporting import Report, counted
from ftor.text.programs.pairs import encode_pairs
from ftor.text.programs.rules import RuleUnits
from ftor.text.reading import DataError, Pair
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
    spelled = _spelled(pairs, units)
    derived = [pair for pair in spelled if units.trees.derives(pair.target, pair.source)]
    for number in range(ROUNDS if derived else 0):
        wanted = round(count * (number + 1) / ROUNDS) - len(made)
        recombiner = Recombiner([*derived, *made], units.trees, iterations, grow_lists=grow_lists)
        made += recombiner.draw(wanted, seed + number)
    return encode_pairs(units, made)


def check_derived(pairs: Sequence[Pair], units: RuleUnits, name: object, report: Report) -> None:
    """Raise if the grammar derives no target, and warn if it does not derive all of them.

    Args:
        pairs: training pairs with targets in units.
        units: the units and their grammar.
        name: the file of the pairs.
        report: receives the warning.
    """
    others = [pair for pair in _spelled(pairs, units) if not units.trees.derives(pair.target, pair.source)]
    if not others:
        return
    first, derived = others[0], len(pairs) - len(others)
    problem = (
        f"{units.grammar.name}: derives {derived} of {counted(len(pairs), 'target')}; the first that it does "
        f"not derive is {name}:{first.line}: {units.trees.why_not(first.target, first.source)}"
    )
    if not derived:
        raise DataError(f"{problem}; nothing can be recombined")
    report.warn(f"{problem}; targets that it does not derive are left out")


def _spelled(pairs: Sequence[Pair], units: RuleUnits) -> list[Pair]:
    """The pairs with targets in tokens."""
    return [replace(pair, target=tuple(units.spell(pair.target))) for pair in pairs]
