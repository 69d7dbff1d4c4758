"""What a model answers: the output, its probability, and how the model came to it."""

from dataclasses import dataclass, field

from ftor.ops.arrays import Array
from ftor.trees import PermutationTree


@dataclass(frozen=True, eq=False)
class Step:
    """One of the model's steps as a soft alignment.

    Attributes:
        name: "fertility" or "reordering".
        marginals: (positions before, positions after), P(the one comes from the other).
        labels: what to call each position after the step.
    """

    name: str
    marginals: Array
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Structure:
    """How a transducer came to its output.

    Attributes:
        steps: fertility then reordering, reordering then fertility, or fertility alone; the first reads the
            source, the last writes the output.
        alignment: (n, l), P(output token o comes from source token i): the product of the steps.
        fertilities: (n,), the most likely number of copies of each source token, given the output's length.
        tree: the best reordering tree; None without a reordering step.
    """

    steps: tuple[Step, ...]
    alignment: Array
    fertilities: tuple[int, ...]
    tree: PermutationTree | None


@dataclass(frozen=True, eq=False)
class Prediction:
    """A model's answer to one sentence.

    Attributes:
        source: the tokens as the model reads them, its start token included.
        tokens: the output.
        score: log P(l|x) + log P(y|x,l) of the output y of length l; log P(y|x) of a baseline.
        length_score: log P(l|x), the first part of it; None from a baseline.
        structure: None where it was not asked for, and from a baseline.
        well_formed: whether the grammar that was asked for derives the output, which it does unless it
            derives none that the model can write; None without a grammar.
    """

    source: tuple[str, ...]
    tokens: tuple[str, ...]
    score: float
    length_score: float | None
    structure: Structure | None = field(default=None, repr=False)
    well_formed: bool | None = None

    @property
    def text(self) -> str:
        """The output's tokens, joined by blanks."""
        return " ".join(self.tokens)

    @property
    def length(self) -> int:
        """The number of output tokens."""
        return len(self.tokens)
