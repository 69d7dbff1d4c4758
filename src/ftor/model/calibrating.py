"""Fits the confidence of a model to its predictions for pairs that it was not trained on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ftor.metrics import EXACT_MATCH, accuracy_name
from ftor.model.confidence import FEWEST, SEARCHED, Calibration, features
from ftor.reporting import SILENT, Report
from ftor.text.reading import Pair

if TYPE_CHECKING:
    from ftor.model.model import Model


def fit_confidence(model: "Model", pairs: Sequence[Pair], report: Report = SILENT) -> Calibration | None:
    """Fit the confidence of a model to pairs with targets in its units. None if they are too few."""
    predictions = model.predict(
        [pair.source for pair in pairs],
        emphasis=[pair.emphasis for pair in pairs],
        structure=False,
        n_best=SEARCHED,
        confidence=False,
        report=report,
    )
    both = [(pair, one) for pair, one in zip(pairs, predictions, strict=True) if one.error is None]
    if len(both) < FEWEST:
        return None
    name, right = _verdicts(model, [(pair, one.tokens) for pair, one in both])
    wrong = [pair_and_one for pair_and_one, is_right in zip(both, right, strict=True) if not is_right]
    others = [(row, pair, other) for row, (pair, one) in enumerate(wrong) for other in one.alternatives]
    _, also_right = _verdicts(model, [(pair, other.tokens) for _, pair, other in others])
    found = {row for (row, _, _), is_right in zip(others, also_right, strict=True) if is_right}
    values = [features(one) for _, one in both]
    return Calibration.fit(values, right, (len(found) + 1) / (len(wrong) + 2), name)


def _verdicts(model: "Model", answers: Sequence[tuple[Pair, Sequence[str]]]) -> tuple[str, list[bool]]:
    """What decides whether answers are right, and its verdict on each."""
    if not answers:
        return EXACT_MATCH, []
    pairs, outputs = zip(*answers, strict=True)
    right = model.judge(pairs, outputs, quick=True).right
    name = accuracy_name(right)
    return name, right[name].tolist()
