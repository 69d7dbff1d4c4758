"""Models whose outputs are programs: the grammar that is inferred for them, and their texts."""

from collections.abc import Sequence
from dataclasses import replace

from ftor.config import Config
from ftor.errors import FtorError
from ftor.grammar import Grammar
from ftor.grammar.inferring import Generality, Spelling, UnitSlots, infer
from ftor.model.compiling import compiled
from ftor.model.prediction import Prediction
from ftor.text.programs import ProgramError, Programs, TokenUnits
from ftor.text.programs.codec import CLOSE_NAME
from ftor.text.programs.pairs import TargetUnits
from ftor.text.programs.units import owners, slots
from ftor.text.reading import Pair

INFER = "infer"
NONE = "none"


def uses_grammar(config: Config, programs: TargetUnits | None) -> str | None:
    """The grammar that a model is trained with, if any. The default for programs is `INFER`."""
    trees = isinstance(programs, Programs)
    name = config.decoding.grammar or (INFER if trees else NONE)
    return None if name == NONE or (name == INFER and not trees) else name


def training_grammar(config: Config, pairs: Sequence[Pair], programs: TargetUnits | None) -> Grammar | None:
    """The grammar of a new model, inferred from the targets of its training pairs or read from a file."""
    name = uses_grammar(config, programs)
    if name is None:
        return None
    if name != INFER or not isinstance(programs, Programs):
        return over_units(Grammar.read(name), programs)
    return Grammar.parse(inferred_grammar(pairs, programs, config.model.copies), "inferred grammar")


def over_units(grammar: Grammar, programs: TargetUnits | None) -> Grammar:
    """A grammar over the tokens of targets as a grammar over the units that they are written in, if any."""
    if programs is None:
        return grammar
    if isinstance(programs, TokenUnits):
        raise FtorError(
            f"{grammar.name}: this grammar derives tokens, and the targets are in units of several tokens; "
            'set data.programs = "none" or decoding.grammar = "none"'
        )
    return compiled(grammar, programs)


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


def with_programs(predictions: Sequence[Prediction], programs: TargetUnits) -> list[Prediction]:
    """Predictions with the texts of their programs. `?` stands for parts that an output lacks."""
    return [
        one if one.error else replace(one, program=programs.decode(one.tokens, strict=False))
        for one in predictions
    ]


def to_judge(
    pairs: Sequence[Pair], outputs: Sequence[Sequence[str]], programs: TargetUnits
) -> tuple[list[Pair], list[list[str]]]:
    """Pairs and outputs such that equal texts have equal tokens, whatever units an output is written in."""
    if isinstance(programs, TokenUnits):
        spelled = [replace(pair, target=tuple(programs.spell(pair.target))) for pair in pairs]
        return spelled, [programs.spell(output) for output in outputs]
    return list(pairs), [_usual_units(programs, output) for output in outputs]


def _usual_units(programs: Programs, output: Sequence[str]) -> list[str]:
    """The units in which the text of an output is encoded."""
    try:
        return programs.encode(programs.decode(output))
    except ProgramError:
        return list(output)
