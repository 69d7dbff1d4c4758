"""What a model answers to pairs, one by one: its predictions, and which of them are right."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ftor.grammar import Grammar
from ftor.metrics import Metrics, Verdicts, accuracy_name
from ftor.model.prediction import Prediction
from ftor.reporting import SILENT, Report
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair, PairsFile

if TYPE_CHECKING:
    from ftor.model.model import Model


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The answers of a model to pairs.

    Attributes:
        pairs: the pairs. Targets that are programs are in units.
        predictions: the answer to each pair.
        metrics: the metrics of all answers together.
        verdicts: whether each answer is right: "exact_match", each judge of the task, and "well_formed".
    """

    pairs: tuple[Pair, ...]
    predictions: tuple[Prediction, ...]
    metrics: Metrics
    verdicts: Verdicts

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each answer is right by the accuracy of the task. Its mean is `metrics.accuracy`."""
        return self.verdicts[accuracy_name(self.verdicts)]


def examine(
    model: "Model",
    pairs: Sequence[Pair] | str | Path,
    lengths: int | None,
    report: Report,
    grammar: Grammar | Path | str | None,
) -> Evaluation:
    """Predict the outputs of pairs and compare them with the gold targets. See `Model.examine`."""
    left_out = ""
    if isinstance(pairs, str | Path):
        data, go_on = model.config.data, None if report is SILENT else report
        file = PairsFile.read(Path(pairs), data.source_tokenizer, data.target_tokenizer, data.emphasis, go_on)
        pairs, left_out = file.pairs, file.left_out
    if model.programs is not None:
        pairs = encode_pairs(model.programs, pairs)
    predictions = model.predict(
        [pair.source for pair in pairs],
        emphasis=[pair.emphasis for pair in pairs],
        lengths=lengths,
        grammar=grammar,
        structure=False,
        report=report,
    )
    metrics, verdicts = model.judge(pairs, [prediction.tokens for prediction in predictions], report)
    errors = [prediction.error for prediction in predictions if prediction.error]
    if errors:
        report.warn(f"{len(errors)} outputs are missing and count as wrong; the first: {errors[0]}")
    if left_out:
        report.warn(f"left out: {left_out}")
    return Evaluation(tuple(pairs), tuple(predictions), metrics, verdicts)
