"""Confidence: what it is fitted to, what it says, and the file that keeps it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from ftor.errors import FtorError
from ftor.metrics.reliability import Reliability
from ftor.model.confidence import CONFIDENCE_FILE, FALLING, Calibration, check_min_confidence, features
from ftor.model.prediction import Alternative, Prediction
from ftor.model.tensors import CheckpointError


def prediction(score=-0.5, length=4, shares=(0.7, 0.2, 0.1)):
    others = (Alternative(f"{n}", (f"{n}",), score - 1, share) for n, share in enumerate(shares[1:]))
    return Prediction(("x",), ("y",) * length, score, None, share=shares[0], alternatives=tuple(others))


def made_up(count, seed=0, longest=8):
    """Predictions, and whether they are right: less often than their shares, and less if they are long."""
    random = np.random.default_rng(seed)
    predictions, right = [], []
    for _ in range(count):
        length, share = int(random.integers(3, longest)), float(random.beta(3, 0.6))
        shares = (share, (1 - share) * 0.7, (1 - share) * 0.3)
        predictions.append(prediction(math.log(share) * 1.3, length, shares))
        right.append(bool(random.random() < share**1.5 * 0.97 ** (length - 3)))
    return predictions, right


def fit(count, seed=0):
    predictions, right = made_up(count, seed)
    return Calibration.fit([features(one) for one in predictions], right, 0.4, "exact_match")


class TestFeatures:
    def test_are_what_the_search_found(self):
        found = features(prediction(math.log(0.25), 4))
        assert found["score"] == pytest.approx(math.log(0.25 / 0.75))
        token = 0.25 ** (1 / 4)
        assert found["token_score"] == pytest.approx(math.log(token / (1 - token)))
        assert found["share"] == pytest.approx(math.log(0.7 / 0.3))
        assert found["margin"] == pytest.approx(math.log(0.7 / 0.2))
        assert found["length"] == pytest.approx(math.log(4))

    def test_do_not_depend_on_how_many_alternatives_are_asked_for(self):
        many = (0.5, 0.2, 0.1, 0.05, 0.03, 0.02, 0.1)
        few = tuple(share / 0.88 for share in many[:5])
        assert features(prediction(shares=many)) == pytest.approx(features(prediction(shares=few)))

    def test_are_finite_without_alternatives_and_at_both_ends(self):
        for one in (
            prediction(0.0, 1, (1.0,)),
            prediction(-1e9, 500, (0.0, 1.0)),
            prediction(shares=(1.0, 0.0)),
        ):
            assert all(math.isfinite(value) for value in features(one).values())


class TestCalibration:
    @pytest.mark.parametrize(("count", "most"), [(100, 0.08), (400, 0.04)])
    def test_is_right_as_often_as_it_says(self, count, most):
        predictions, right = made_up(3000, seed=99)
        values = [features(one) for one in predictions]
        errors = []
        for seed in range(4):
            fitted = fit(count, seed)
            errors.append(Reliability.of([fitted.confidence(one) for one in values], right).error)
        assert np.mean(errors) < most
        assert Reliability.of([one.share for one in predictions], right).error > 0.1

    def test_ten_right_answers_make_nothing_certain(self):
        predictions, _ = made_up(10)
        fitted = Calibration.fit([features(one) for one in predictions], [True] * 10, 0.5, "exact_match")
        confidences = [fitted.confidence(features(one)) for one in made_up(200, seed=2)[0]]
        assert 0.5 < np.median(confidences) < 0.995
        assert max(confidences) < 1

    def test_a_model_that_is_sure_of_all_pairs_and_right_is_sure_of_like_answers_and_of_no_others(self):
        sure = [prediction(-0.001 - 1e-5 * n, 4, (0.999, 0.001)) for n in range(50)]
        fitted = Calibration.fit([features(one) for one in sure], [True] * 50, 0.5, "exact_match")
        like, odd = prediction(-0.002, 5, (0.998, 0.002)), prediction(-5.0, 4, (0.4, 0.3, 0.3))
        assert fitted.confidence(features(like)) > 0.9
        assert fitted.confidence(features(odd)) < 0.4

    def test_verdicts_without_a_reason_are_not_learned_by_heart(self):
        random = np.random.default_rng(0)
        predictions, _ = made_up(12)
        right = (random.random(12) < 0.5).tolist()
        fitted = Calibration.fit([features(one) for one in predictions], right, 0.5, "exact_match")
        confidences = [fitted.confidence(features(one)) for one in predictions]
        assert max(confidences) < 0.95

    def test_longer_answers_are_never_surer_and_shares_never_less(self):
        for seed in range(5):
            fitted = fit(30, seed)
            assert max(fitted.weights[name] for name in FALLING) <= 0
            assert min(weight for name, weight in fitted.weights.items() if name not in FALLING) >= 0

    def test_answers_unlike_all_others_are_less_sure(self):
        fitted = fit(60)
        usual, long = (fitted.confidence(features(prediction(-0.01, n, (0.99, 0.01)))) for n in (5, 60))
        assert 0.2 < long < usual

    def test_a_word_that_the_model_does_not_know_makes_an_answer_less_sure(self):
        known, guess = prediction(-0.01, 4, (0.99, 0.01)), features(prediction(-0.01, 4, (0.99, 0.01)))
        guess["foreign"] = 1.0
        fitted = fit(60)
        assert fitted.confidence(guess) < fitted.confidence(features(known)) - 0.1
        rows = [features(known), guess] * 50
        harmless = Calibration.fit(rows, [True] * 100, 0.5, "exact_match")
        harmful = Calibration.fit(rows, [True, False] * 50, 0.5, "exact_match")
        hopeful = Calibration.fit(rows, [False, True] * 50, 0.5, "exact_match")
        assert hopeful.weights["foreign"] == 0
        assert harmless.confidence(guess) > 0.9
        assert harmful.confidence(guess) < 0.1

    def test_alternatives_divide_what_is_left(self):
        fitted = fit(60)
        applied = fitted.applied(prediction())
        first, second = (other.confidence for other in applied.alternatives)
        assert first + second == pytest.approx((1 - applied.confidence) * 0.4)
        assert first == pytest.approx(2 * second)
        assert not applied.abstained
        assert fitted.applied(prediction(), applied.confidence + 1e-6).abstained
        assert not fitted.applied(prediction(), applied.confidence).abstained

    def test_of_a_foreign_sentence_is_at_most_the_share_of_known_words(self):
        fitted = fit(60)
        guess = replace(prediction(), source=("@start@", "x", "y", "y", "z"), foreign=("y", "z"))
        assert guess.known_share == 0.25
        assert fitted.applied(guess, foreign=True).confidence == min(fitted.applied(guess).confidence, 0.25)

    def test_an_error_has_no_confidence(self):
        one = replace(prediction(), error="too long")
        assert fit(60).applied(one, 0.9) is one


class TestFile:
    def test_comes_back(self, tmp_path):
        fitted = fit(30)
        fitted.write(tmp_path)
        assert Calibration.read(tmp_path) == fitted
        assert json.loads((tmp_path / CONFIDENCE_FILE).read_text())["pairs"] == 30

    def test_of_an_older_folder_comes_back(self, tmp_path):
        old = fit(30)
        for part in (old.means, old.scales, old.weights):
            del part["foreign"]
        old = replace(old, covariance=[row[:-1] for row in old.covariance[:-1]])
        old.write(tmp_path)
        found = Calibration.read(tmp_path)
        assert found == old
        guess = features(prediction())
        assert found.confidence(guess | {"foreign": 2.0}) == found.confidence(guess)

    def test_may_be_missing(self, tmp_path):
        assert Calibration.read(tmp_path) is None

    @pytest.mark.parametrize(
        "damage",
        [
            lambda text: text[:50],
            lambda text: "[]",
            lambda text: text.replace('"margin"', '"charm"'),
            lambda text: text.replace('"bias"', '"bios"'),
            lambda text: json.dumps(json.loads(text) | {"covariance": [[1.0]]}),
        ],
    )
    def test_that_is_damaged_is_named(self, tmp_path, damage):
        fit(30).write(tmp_path)
        path = tmp_path / CONFIDENCE_FILE
        path.write_text(damage(path.read_text()))
        with pytest.raises(CheckpointError, match=str(path)) as found:
            Calibration.read(tmp_path)
        assert "\n" not in str(found.value)


def test_a_least_confidence_needs_a_calibration():
    check_min_confidence(0.5, fit(30))
    with pytest.raises(FtorError, match="the model is not calibrated; run ftor calibrate"):
        check_min_confidence(0.5, None)
    with pytest.raises(ValueError, match="expected a probability, found 2"):
        check_min_confidence(2, fit(30))
