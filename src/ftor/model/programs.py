"""Models whose outputs are programs: the grammar that they are trained with, and their texts."""

from collections.abc import Sequence
from dataclasses import replace

from ftor.config import Config, Tokenizer
from ftor.grammar import Grammar
from ftor.model.prediction import Prediction, Structure
from ftor.text.copying import Copying
from ftor.text.programs import ProgramError, Programs, TokenUnits
from ftor.text.programs.grammars import grammar_of, over_units
from ftor.text.programs.pairs import TargetUnits
from ftor.text.reading import Pair
from ftor.text.tokenizing import tokenize

INFER = "infer"
NONE = "none"


def grammar_name(config: Config, programs: TargetUnits | None) -> str | None:
    """The grammar that a model is trained with, if any. The default for programs is `INFER`."""
    trees = isinstance(programs, Programs)
    name = config.decoding.grammar or (INFER if trees else NONE)
    return None if name == NONE or (name == INFER and not trees) else name


def reads_dialects(config: Config) -> bool:
    """Whether targets may be read in dialects of notations, and in pieces.

    A grammar of the user's own is over the words of a notation, and knows neither, unless it says so: `n=` is
    the name of an argument, and the unit `sequence(` begins the programs of a line.
    """
    name = config.decoding.grammar
    if name is None or name in (INFER, NONE):
        return True
    words = Grammar.read(name).terminals
    return any(word == "sequence(" or (word.endswith("=") and word[0].isalpha()) for word in words)


def training_grammar(config: Config, pairs: Sequence[Pair], programs: TargetUnits | None) -> Grammar | None:
    """The grammar of a new model, inferred from the targets of its training pairs or read from a file."""
    name = grammar_name(config, programs)
    if name is None:
        return None
    if name != INFER or not isinstance(programs, Programs):
        return over_units(Grammar.read(name), programs)
    copying = Copying.of(config.data) if config.model.copies else None
    return grammar_of(pairs, programs, copying, config.decoding.generality)


def with_programs(predictions: Sequence[Prediction], programs: TargetUnits) -> list[Prediction]:
    """Predictions with the texts of their programs. `?` stands for parts that an output lacks."""
    return [
        one
        if one.error
        else replace(
            one, program=programs.decode(one.tokens, strict=False), structure=_with_units(one, programs)
        )
        for one in predictions
    ]


def _with_units(prediction: Prediction, programs: TargetUnits) -> Structure | None:
    """The structure of a prediction with what its units write."""
    if prediction.structure is None:
        return None
    return replace(prediction.structure, written=tuple(map(programs.show, prediction.tokens)))


def units_of(target: str, programs: TargetUnits | None, tokenizer: Tokenizer) -> tuple[str, ...]:
    """The tokens of a target, or the units that training would write it in.

    Raises:
        ProgramError: if it is no program.
    """
    tokens = tokenize(target, tokenizer)
    if programs is None:
        return tokens
    return tuple(programs.encode(" ".join(tokens) if isinstance(programs, TokenUnits) else target.strip()))


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
