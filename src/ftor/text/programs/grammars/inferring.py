"""Grammars over units that are inferred from training programs."""

from collections.abc import Sequence

from ftor.grammar.inferring import Generality, Spelling, UnitSlots, infer
from ftor.text.programs.codec import CLOSE_NAME, Programs
from ftor.text.programs.units import owners, slots
from ftor.text.reading import Pair


def inferred_grammar(
    pairs: Sequence[Pair],
    programs: Programs,
    copies: bool = False,
    generality: Generality = "typed",
    original: bool = False,
) -> str:
    """The text of a grammar inferred from training targets.

    Args:
        pairs: pairs whose targets are in units.
        programs: the units.
        copies: whether names that are copied from sources become `@copy`.
        generality: see `ftor.grammar.inferring.infer`.
        original: whether rules are written in the notation of the programs instead of units.
    """
    units = _unit_slots(programs)
    copied = {unit for pair in pairs for unit in pair.target if unit in pair.source} if copies else set()
    spelling = None
    if original:
        spelling = Spelling(programs.spell, programs.is_name, programs.notation.separator)
    return infer((pair.target for pair in pairs), units, generality, copied, spelling)


def _unit_slots(programs: Programs) -> UnitSlots:
    trees = {name: unit for name, unit in programs.units.items() if name != CLOSE_NAME}
    return UnitSlots(
        {name: slots(unit) for name, unit in programs.units.items()},
        CLOSE_NAME,
        {name: repr(unit[0]) for name, unit in trees.items()},
        {
            (name, slot): (repr(symbol), argument)
            for name, unit in trees.items()
            for slot, (symbol, argument) in enumerate(owners(unit))
        },
    )
