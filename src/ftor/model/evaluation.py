"""What a model answers to pairs, one by one: its predictions, and which of them are right."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ftor.datasets.folders import find_file
from ftor.grammar import Grammar
from ftor.metrics import EXACT_MATCH, IN_GRAMMAR, WELL_FORMED, Metrics, Tokens, Verdicts, accuracy_name
from ftor.metrics.mistakes import Mistake, classify
from ftor.metrics.reliability import Reliability
from ftor.model.novelty import new_parts, new_words
from ftor.model.prediction import Prediction
from ftor.reporting import SILENT, Report, counted
from ftor.text.programs.pairs import encode_pairs, unwritable_targets, warn_of_unwritable
from ftor.text.reading import Pair, PairsFile

if TYPE_CHECKING:
    from ftor.model.model import Model

FOREIGN = 0.8
"""The share of words unknown to the model above which pairs seem to be those of another task."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The answers of a model to pairs.

    Attributes:
        pairs: the pairs. Targets that are programs are in units.
        predictions: the answer to each pair.
        metrics: the metrics of all answers together.
        verdicts: whether each answer is right: "exact_match", each judge of the task, and "well_formed".
        golds, outputs: the parts that were compared: tokens, or units of programs.
        new_words: the words of each sentence that the training pairs lack.
        new_parts: the parts of each gold that the training pairs lack and that cannot be copied.
    """

    pairs: tuple[Pair, ...]
    predictions: tuple[Prediction, ...]
    metrics: Metrics
    verdicts: Verdicts
    golds: tuple[Tokens, ...]
    outputs: tuple[Tokens, ...]
    new_words: tuple[Tokens, ...]
    new_parts: tuple[Tokens, ...]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each answer is right by the accuracy of the task. Its mean is `metrics.accuracy`."""
        return self.verdicts[accuracy_name(self.verdicts)]

    @cached_property
    def unknown_words(self) -> tuple[Tokens, ...]:
        """The new words of each sentence that its gold does not have, so that they are no names to copy."""
        copied = ({part.lower() for part in gold} for gold in self.golds)
        return tuple(
            tuple(word for word in words if word.lower() not in parts)
            for words, parts in zip(self.new_words, copied, strict=True)
        )

    @cached_property
    def reliability(self) -> Reliability | None:
        """How far the confidences of the answers can be trusted. None if the model is not calibrated."""
        if all(prediction.confidence is None for prediction in self.predictions):
            return None
        return Reliability.of([one.confidence or 0.0 for one in self.predictions], self.right.tolist())

    @cached_property
    def mistakes(self) -> tuple[Mistake | None, ...]:
        """The class of each wrong answer. None for a right one."""
        return tuple(
            None
            if right
            else classify(gold, output, unknown=bool(words or parts), answered=prediction.error is None)
            for right, gold, output, words, parts, prediction in zip(
                self.right,
                self.golds,
                self.outputs,
                self.unknown_words,
                self.new_parts,
                self.predictions,
                strict=True,
            )
        )


def read_golds(
    model: "Model", pairs: Sequence[Pair] | str | Path, report: Report
) -> tuple[Sequence[Pair], str]:
    """Pairs, or those of a file, with targets in the units of a model; and what is left out of the file."""
    left_out, name = "", "pairs"
    if isinstance(pairs, str | Path):
        file = _read(model, Path(pairs), None if report is SILENT else report)
        pairs, left_out, name = file.pairs, file.left_out, str(pairs)
    if model.programs is None:
        return pairs, left_out
    warn_of_unwritable(name, unwritable_targets(model.programs, pairs), report)
    return encode_pairs(model.programs, pairs), left_out


def examine(
    model: "Model",
    pairs: Sequence[Pair] | str | Path,
    lengths: int | None,
    report: Report,
    grammar: Grammar | Path | str | None,
) -> Evaluation:
    """Predict the outputs of pairs and compare them with the gold targets. See `Model.examine`."""
    pairs, left_out = read_golds(model, pairs, report)
    predictions = model.predict(
        [pair.source for pair in pairs],
        emphasis=[pair.emphasis for pair in pairs],
        lengths=lengths,
        grammar=grammar,
        structure=False,
        report=report,
    )
    judged = model.judge(pairs, [prediction.tokens for prediction in predictions], report)
    unknown = new_words(pairs, model.vocabularies, model.trained_words)
    if sum(map(len, unknown)) > FOREIGN * sum(len(pair.source) for pair in pairs):
        name = model.folder or "the model"
        report.warn(f"{name} was trained on hardly any of these words; are the pairs those of another task?")
    tell_of_underived(pairs, judged.right, report)
    errors = [prediction.error for prediction in predictions if prediction.error]
    if errors:
        report.warn(f"{len(errors)} outputs are missing and count as wrong; the first: {errors[0]}")
    if left_out:
        report.warn(f"left out: {left_out}")
    return Evaluation(
        tuple(pairs),
        tuple(predictions),
        judged.metrics,
        judged.right,
        tuple(judged.golds),
        tuple(judged.outputs),
        unknown,
        new_parts(pairs, model.vocabularies),
    )


def tell_of_underived(pairs: Sequence[Pair], right: Verdicts, report: Report) -> None:
    """Say that right outputs are not in the model's grammar, so that more are right than in the grammar."""
    if WELL_FORMED not in right:
        return
    is_outside = (right[EXACT_MATCH] & ~right[WELL_FORMED]).tolist()
    outside = [pair for pair, is_one in zip(pairs, is_outside, strict=True) if is_one]
    if outside:
        first = outside[0].target_text or " ".join(outside[0].target)
        report.say(
            f"right, but not {IN_GRAMMAR}, which does not derive these gold targets: "
            f"{counted(len(outside), 'output')}, such as {first}"
        )


def training_pairs(
    model: "Model", file: Path | None = None, data_folder: Path | None = None
) -> list[Pair] | None:
    """The pairs that a model was trained on, with targets in units if they are programs.

    Args:
        model: the model, whose folder does not have them.
        file: where they are. By default the file that the configuration names, if it is still there.
        data_folder: where that file is, if not in the usual folders.

    Returns:
        None if there is no file.
    """
    name = model.config.data.train
    path = file or (find_file(name, data_folder) if name is not None else None)
    if path is None:
        return None
    pairs = _read(model, path, Report()).pairs  # training has named its bad lines
    return pairs if model.programs is None else encode_pairs(model.programs, pairs)


def _read(model: "Model", path: Path, report: Report | None) -> PairsFile:
    data = model.config.data
    return PairsFile.read(path, data.source_tokenizer, data.target_tokenizer, data.emphasis, report)
