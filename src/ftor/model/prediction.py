"""Predictions: the output of a sentence, its probability, its structure, and their JSON record."""

import math
from dataclasses import dataclass, field
from typing import Any

from ftor.ops.arrays import Array
from ftor.text.vocabulary import START_TOKEN
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
        copied: (l,), whether each output token is copied from the source. Empty if the model never copies.
        written: (l,), what each unit writes in a program, `…` for open slots. Empty for plain tokens.
    """

    steps: tuple[Step, ...]
    alignment: Array
    fertilities: tuple[int, ...]
    tree: PermutationTree | None
    copied: tuple[bool, ...] = ()
    written: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """Another output that was found for a sentence.

    Attributes:
        text: the output as in the training file.
        tokens: its tokens, or its units if it is a program.
        score: as of a `Prediction`.
        share: its share of the probability of all outputs that were found.
        confidence: calibrated probability that it is right. None if the model is not calibrated.
    """

    text: str
    tokens: tuple[str, ...]
    score: float
    share: float
    confidence: float | None = None

    def record(self) -> dict[str, Any]:
        """Values that can be written as JSON."""
        return {
            "prediction": self.text,
            "score": _finite(self.score),
            "share": self.share,
            "confidence": self.confidence,
        }


def _finite(score: float) -> float | None:
    """None for a score that JSON cannot write: the logarithm of 0."""
    return score if math.isfinite(score) else None


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
        share: the share of the output in the probability of all outputs that were found. None if only one
            was searched for.
        confidence: calibrated probability that the output is right. None if the model is not calibrated.
        alternatives: other outputs that were found, best first.
        abstained: whether the confidence is below the `min_confidence` of `Model.predict`.
        unknown: the words of the sentence that the model does not know, each once.
        foreign: those of them that the output does not copy, and no pretrained encoder reads.
    """

    source: tuple[str, ...]
    tokens: tuple[str, ...]
    score: float
    length_score: float | None
    structure: Structure | None = field(default=None, repr=False)
    well_formed: bool | None = None
    program: str | None = None
    error: str | None = None
    share: float | None = None
    confidence: float | None = None
    alternatives: tuple[Alternative, ...] = ()
    abstained: bool = False
    unknown: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The words of the sentence, without the start token."""
        return [word for word in self.source if word != START_TOKEN]

    @property
    def known_share(self) -> float:
        """The share of the sentence's words that the model can read or copies."""
        return sum(word not in self.foreign for word in self.words) / max(len(self.words), 1)

    @property
    def text(self) -> str:
        """The output as in the training file: a program, or tokens joined by spaces."""
        return " ".join(self.tokens) if self.program is None else self.program

    @property
    def length(self) -> int:
        """The number of output tokens."""
        return len(self.tokens)

    def record(
        self, source: str, *, alignment: bool = False, fertilities: bool = False, tree: bool = False
    ) -> dict[str, Any]:
        """The prediction as JSON values: an output, or why there is none.

        If the model abstained, `prediction` is None and the output that it withheld heads the alternatives.

        Args:
            source: the sentence as it was given.
            alignment, fertilities, tree: the parts of the structure to add, if the prediction has one.
        """
        if self.error is not None:
            return error_record(source, self.error)
        alternatives = [alternative.record() for alternative in self.alternatives]
        if self.abstained:
            share = 1.0 if self.share is None else self.share
            own = Alternative(self.text, self.tokens, self.score, share, self.confidence)
            alternatives.insert(0, own.record())
        record: dict[str, Any] = {
            "source": source,
            "prediction": None if self.abstained else self.text,
            "tokens": None if self.abstained else list(self.tokens),
            "score": _finite(self.score),
            "confidence": self.confidence,
            "alternatives": alternatives,
            "length": None if self.abstained else self.length,
        }
        if self.abstained:
            record["abstained"] = True
        if self.unknown:
            record["unknown"] = list(self.unknown)
        if self.well_formed is not None:
            record["well_formed"] = self.well_formed
        return record | self._structure_record(alignment, fertilities, tree)

    def _structure_record(self, alignment: bool, fertilities: bool, tree: bool) -> dict[str, Any]:
        how = self.structure
        if how is None or not (alignment or fertilities or tree):
            return {}
        record: dict[str, Any] = {"source_tokens": list(self.source)}
        if fertilities:
            record["fertilities"] = list(how.fertilities)
        if tree:
            record["tree"] = None if how.tree is None else str(how.tree)
        if alignment:
            record["alignment"] = how.alignment.round(6).tolist()
        return record


def error_record(source: str, error: str) -> dict[str, Any]:
    """The record of a sentence that has no output."""
    return {"source": source, "error": error}
