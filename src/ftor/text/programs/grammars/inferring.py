"""Grammars over units that are inferred from training programs."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ftor.grammar import Grammar
from ftor.grammar.inferred_rules import Spelling
from ftor.grammar.inferring import Generality, infer
from ftor.grammar.unit_slots import UnitSlots
from ftor.text.copying import Copying
from ftor.text.programs.codec import CLOSE_NAME, Programs
from ftor.text.programs.parsing import NAME_KINDS
from ftor.text.programs.units import Symbol, Unit, owners, slots
from ftor.text.reading import Pair

TITLED = frozenset({"apply", "curried", "key"})
"""Nodes whose texts name rules."""
NUMBER = re.compile(r"[-+]?\d+([.,]\d+)*")


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
        copies: whether names that are copied from sources become `@copy`. Types of numbers and of words in
            quotes take it, too, whether training copies any or not.
        generality: see `ftor.grammar.inferring.infer`.
        original: whether rules are written in the notation of the programs instead of units.
    """
    units = _unit_slots(programs)
    if copies:
        names = set() if programs.short_names else units.phrases  # in JSON all words have quotes
        units = replace(units, numbers=_numbers(programs), names=names)
    copied = {unit for pair in pairs for unit in pair.target if unit in pair.source} if copies else set()
    spelling = None
    if original:
        spelling = Spelling(programs.spell, programs.row, programs.notation.separator)
    return infer((pair.target for pair in pairs), units, generality, copied, spelling)


def grammar_of(
    pairs: Sequence[Pair], programs: Programs, copying: Copying | None, generality: Generality = "typed"
) -> Grammar:
    """The grammar that a model of these training pairs keeps to.

    Args:
        pairs: pairs whose targets are in units.
        programs: the units.
        copying: how names are copied from sources, if they are.
        generality: see `ftor.grammar.inferring.infer`.
    """
    if copying is not None:
        pairs = [replace(pair, source=copying.copied(pair.target, pair.source)) for pair in pairs]
    text = inferred_grammar(pairs, programs, copying is not None, generality)
    return Grammar.parse(text, "inferred grammar")


def _unit_slots(programs: Programs) -> UnitSlots:
    trees = {name: unit for name, unit in programs.units.items() if name != CLOSE_NAME}
    owned = {name: owners(unit) for name, unit in trees.items()}
    heads = {name: unit[0] for name, unit in trees.items() if isinstance(unit[0], Symbol)}
    return UnitSlots(
        {name: slots(unit) for name, unit in programs.units.items()},
        CLOSE_NAME,
        {name: repr(unit[0]) for name, unit in trees.items()},
        {
            (name, slot): (repr(symbol), argument)
            for name, some in owned.items()
            for slot, (symbol, argument) in enumerate(some)
        },
        titles={name: head.text for name, head in heads.items() if head.kind in TITLED},
        labels={
            (name, slot): text for name, unit in trees.items() for slot, text in enumerate(_labels(unit))
        },
        objects={
            (name, slot)
            for name, some in owned.items()
            for slot, (symbol, _) in enumerate(some)
            if symbol.kind == "object"
        },
        keys={name: head.text for name, head in heads.items() if head.kind == "key"},
        phrases={
            (name, slot)
            for name, some in owned.items()
            for slot, (symbol, _) in enumerate(some)
            if symbol.kind in NAME_KINDS
        },
    )


def _numbers(programs: Programs) -> set[str]:
    """The units that are a number."""
    return {
        name
        for name, unit in programs.units.items()
        if len(unit) == 1 and isinstance(unit[0], Symbol) and NUMBER.fullmatch(unit[0].text)
    }


def _labels(unit: Unit) -> list[str]:
    """For each open slot of a unit, the text of the function or key that it is in, or `word` in a name."""
    found: list[str] = []
    waiting: list[tuple[str, int]] = []  # of each open symbol: its text or that around it, and open children
    for part in unit:
        around = ""
        if waiting:
            around, left = waiting.pop()
            waiting += [(around, left - 1)] * (left > 1)
        if isinstance(part, Symbol):
            text = part.text if part.kind in TITLED else around or "word" * (part.kind in NAME_KINDS)
            waiting += [(text, abs(part.arity))] * (part.arity != 0)  # a rest slot is one child
        else:
            found.append(around)
    return found
