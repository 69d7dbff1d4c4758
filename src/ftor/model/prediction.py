"""Predictions: the output of a sentence, its probability and its structure."""

from dataclasses import dataclass, field

from ftor.ops.arrays import Array
from ftor.trees import PermutationTree


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a transducer as a soft alignment.

    Attributes:
        name: "fertility" or "reordering".
        marginals: (positions before, positions after), P(the position after comes from the position before).
        labels: a name for each position after the step.
    """

    name: str
    marginals: Array
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Structure:
    """How a transducer made its output.

    Attributes:
        steps: fertility then reordering, reordering then fertility, or only fertility. The first step reads
            the source, the last one writes the output.
        alignment: (n, l), P(output token o comes from source token i): the product of the steps.
        fertilities: (n,), the most likely number of copies of each source token, given the output's length.
        tree: the most likely reordering tree. None without a reordering step.
    """

    steps: tuple[Step, ...]
    alignment: Array
    fertilities: tuple[int, ...]
    tree: PermutationTree | None


@dataclass(frozen=True, eq=False)
class Prediction:
    """The prediction of a model for one sentence.

    Attributes:
        source: the tokens of the sentence, with the start token if the model has one.
        tokens: the tokens of the output, or its units if it is a program.
        score: log P(l|x) + log P(y|x,l) for an output y of length l. For a baseline log P(y|x).
        length_score: log P(l|x). None for a baseline.
        structure: how the output was made. None if it was not requested, and for a baseline.
        program: the text of an output that is a program. None for an output of plain tokens.
        error: why there is no output. `tokens` are then empty. None if there is one.
        well_formed: whether the grammar derives the output. False only if the grammar derives no output that
            the model can write. None without a grammar.
    """

    source: tuple[str, ...]
    tokens: tuple[str, ...]
    score: float
    length_score: float | None
    structure: Structure | None = field(default=None, repr=False)
    well_formed: bool | None = None
    program: str | None = None
    error: str | None = None

    @property
    def text(self) -> str:
        """The output as in the training file: a program, or tokens joined by spaces."""
        return " ".join(self.tokens) if self.program is None else self.program

    @property
    def length(self) -> int:
        """The number of output tokens."""
        return len(self.tokens)
