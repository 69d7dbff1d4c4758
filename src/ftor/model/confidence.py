"""Calibrated probabilities that predictions are right, fitted on pairs that the model was not trained on.

A Bayesian logistic regression (Platt's method with several features) says how probable it is that the answer
is right. Its features are what the search found: see `features`. Answers unlike those that it was fitted to,
such as far longer ones, get a confidence nearer to one half, because the weights are not known exactly
(MacKay, "The evidence framework applied to classification networks", 1992).
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import TypeAdapter, ValidationError

from ftor.errors import FtorError
from ftor.files import write_text
from ftor.model.prediction import Prediction
from ftor.model.tensors import CheckpointError
from ftor.ops.arrays import Array

CONFIDENCE_FILE = "confidence.json"
SEARCHED = 5
"""Outputs that are searched for where a prediction has a confidence: it is compared with the others."""
FEWEST = 10
"""Of fewer pairs nothing is fitted."""
MOST = 12.0
"""Greater log-odds and margins tell no more. It is also the margin of an answer without an alternative."""
PRIOR = {"share": 0.5, "score": 0.5, "foreign": -2.0}
"""The log-odds of the confidence by those of other probabilities, if no pair told anything else. The share of
the answer is too high, because outputs that were not found count nothing; and P(y|x) is too low, because
outputs that a grammar forbids and other spellings of the answer take a part of it. Neither tells of words
that the model cannot read, so each of them lowers the log-odds by 2."""
FALLING = frozenset({"length", "foreign"})
"""The features that can only lower the confidence as they grow. All others can only raise it."""
PRECISION, BIAS_PRECISION = 1.0, 0.01
"""Of what is known about weights and bias before any pair is seen. Features have a deviation of at most 1."""
LEAST_SCALE = 4.0
LEAST_SCALES = {"length": 1.0, "foreign": 1.0}
"""The least deviation that log-odds, and these features, are divided by."""
SWEEPS = 1000


def features(prediction: Prediction) -> dict[str, float]:
    """What a confidence is computed from.

    `share` is that of the answer among the first `SEARCHED` outputs that were found, `score` P(y|x),
    `token_score` its geometric mean over tokens and `length_score` P(l|x), all four as log-odds. `margin` is
    how far the answer's log P(y|x) is above that of the second output, `length` the logarithm of its number
    of tokens, and `foreign` the number of words that the model does not know, and does not copy.
    """
    shares = [prediction.share or 1.0, *(other.share for other in prediction.alternatives[: SEARCHED - 1])]
    margin = math.log(shares[0] / shares[1]) if len(shares) > 1 and min(shares[:2]) > 0 else MOST
    tokens = max(prediction.length, 1)
    return {
        "share": _log_odds(math.log(shares[0] / sum(shares)) if shares[0] > 0 else -math.inf),
        "margin": max(min(margin, MOST), -MOST),
        "score": _log_odds(prediction.score),
        "token_score": _log_odds(prediction.score / tokens),
        "length_score": _log_odds(prediction.length_score or 0.0),
        "length": math.log(tokens),
        "foreign": float(len(prediction.foreign)),
    }


def _log_odds(log_p: float) -> float:
    """log(p / (1 − p)), within ±`MOST`, from log p."""
    log_p = min(log_p, -1e-9)
    return max(min(log_p - math.log(-math.expm1(log_p)), MOST), -MOST)


@dataclass(frozen=True)
class Calibration:
    """From features to the probability that an answer is right.

    With x = (1, (value − mean) / scale, …), z = x · (bias, weights) and its variance v = x · covariance · x,
    the probability is σ(z / √(1 + π v / 8)).

    Attributes:
        pairs: on how many pairs it was fitted.
        right: how many of their answers were right.
        judged_by: the name of what judged them.
        bias: log-odds of an answer whose features are the means.
        means, scales, weights: of each feature.
        covariance: of the bias and the weights, row by row.
        found: the share of wrong answers with the right one among their alternatives.
    """

    pairs: int
    right: int
    judged_by: str
    bias: float
    means: dict[str, float]
    scales: dict[str, float]
    weights: dict[str, float]
    covariance: list[list[float]]
    found: float

    @classmethod
    def fit(
        cls, values: Sequence[Mapping[str, float]], right: Sequence[bool], found: float, judged_by: str
    ) -> Self:
        """Fit to the features of answers and to whether they are right.

        Few pairs cannot fit much. So weights are drawn towards `PRIOR` and have the signs that they must
        have, and the verdicts are drawn towards the middle, as if there were one more of each kind.
        """
        names = list(values[0])
        table = np.array([[row[name] for name in names] for row in values], np.float64)
        means, scales = table.mean(0), table.std(0)
        # A model that is equally sure of all pairs would else be unsure of any answer that differs a little.
        scales = np.maximum(scales, [LEAST_SCALES.get(name, LEAST_SCALE) for name in names])
        x, y = (table - means) / scales, np.array(right, bool)
        shares = np.array([PRIOR.get(name, 0.0) for name in names])
        prior = np.array([shares @ means, *(shares * scales)])
        signs = np.array([0.0, *(-1.0 if name in FALLING else 1.0 for name in names)])
        (bias, *weights), covariance = _fit(x, y, prior, signs)
        return cls(
            pairs=len(right),
            right=int(y.sum()),
            judged_by=judged_by,
            bias=float(bias),
            means=dict(zip(names, means.tolist(), strict=True)),
            scales=dict(zip(names, scales.tolist(), strict=True)),
            weights=dict(zip(names, map(float, weights), strict=True)),
            covariance=covariance.tolist(),
            found=found,
        )

    def confidence(self, values: Mapping[str, float]) -> float:
        """The probability that an answer with these features is right."""
        x = np.array([1.0] + [(values[name] - self.means[name]) / self.scales[name] for name in self.weights])
        z = x @ np.array([self.bias, *self.weights.values()])
        variance = x @ np.array(self.covariance) @ x
        return float(_sigmoid(z / np.sqrt(1 + np.pi * variance / 8)))

    def applied(
        self, prediction: Prediction, least: float | None = None, foreign: bool = False
    ) -> Prediction:
        """A prediction with confidences. It is abstained from if its own is below `least`.

        If the sentence is `foreign`, mostly of words that the model cannot read, its confidence is at most
        the share of the other words.

        The alternatives divide by their shares what is left, times the share of wrong answers for which the
        right one is among them.
        """
        if prediction.error is not None:
            return prediction
        confidence = self.confidence(features(prediction))
        if foreign:
            confidence = min(confidence, prediction.known_share)
        left = (
            (1 - confidence) * self.found / max(sum(other.share for other in prediction.alternatives), 1e-300)
        )
        others = (replace(other, confidence=left * other.share) for other in prediction.alternatives)
        abstained = least is not None and confidence < least
        return replace(prediction, confidence=confidence, alternatives=tuple(others), abstained=abstained)

    def write(self, folder: Path) -> None:
        """Write it into a model folder."""
        write_text(folder / CONFIDENCE_FILE, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read it from a model folder. None if the model is not calibrated."""
        path = folder / CONFIDENCE_FILE
        if not path.exists():
            return None
        try:
            read = TypeAdapter(cls).validate_json(path.read_text("utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            reason = str(error).splitlines()[0]
            raise CheckpointError(
                f"{path}: not a calibration: {reason}; delete it and run ftor calibrate"
            ) from None
        names = read.weights.keys()
        if not read.means.keys() == read.scales.keys() == names or not _are_known(names):
            raise CheckpointError(f"{path}: expected the features {', '.join(sorted(_NAMES))}")
        rows = len(names) + 1
        if {len(read.covariance), *map(len, read.covariance)} != {rows}:
            raise CheckpointError(f"{path}: expected a covariance of {rows} rows and columns")
        return read


def check_min_confidence(least: float, calibration: Calibration | None) -> None:
    """Raise if predictions cannot be held to a least confidence."""
    if not 0 <= least <= 1:
        raise ValueError(f"min_confidence: expected a probability, found {least}")
    if calibration is None:
        raise FtorError("min_confidence: the model is not calibrated; run ftor calibrate DIR DEV.tsv")


_NAMES = set(features(Prediction((), ("",), 0.0, None)))


def _are_known(names: Iterable[str]) -> bool:
    """Whether these are the features, or those of a folder that was written before `foreign` was one."""
    return {*names, "foreign"} == _NAMES


def _fit(x: Array, y: Array, prior: Array, signs: Array) -> tuple[Array, Array]:
    """The likeliest bias and weights of a logistic regression, and their covariance.

    One is changed at a time, by Newton's method: with signs to keep, all at once may never come to an end.

    Args:
        x: (N, F), features.
        y: (N,), verdicts.
        prior: (1 + F,), the mean of the bias and the weights before any pair is seen.
        signs: (1 + F,), 1 for what must not be negative, −1 for what must not be positive, 0 for the others.
    """
    ones, zeros = int(y.sum()), int((~y).sum())
    target = np.where(y, (ones + 1) / (ones + 2), 1 / (zeros + 2))  # Platt's
    table = np.hstack([np.ones((len(x), 1)), x])
    precision = np.array([BIAS_PRECISION] + [PRECISION] * x.shape[1])
    weights = prior.copy()
    for _ in range(SWEEPS):
        before = weights.copy()
        for number in range(len(weights)):
            column, p = table[:, number], _sigmoid(table @ weights)
            slope = column @ (p - target) + precision[number] * (weights[number] - prior[number])
            curvature = column**2 @ (p * (1 - p)) + precision[number]
            weights[number] -= np.clip(slope / curvature, -1, 1)
            if signs[number] * weights[number] < 0:
                weights[number] = 0.0
        if np.abs(weights - before).max() < 1e-7:
            break
    p = _sigmoid(table @ weights)
    return weights, np.linalg.inv((table * (p * (1 - p))[:, None]).T @ table + np.diag(precision))


def _sigmoid(z: Array) -> Array:
    return np.exp(-np.logaddexp(0, -z))
