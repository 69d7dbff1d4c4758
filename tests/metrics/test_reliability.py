"""Calibration error and accuracy by coverage, by hand."""

import json

import pytest

from ftor.metrics.reliability import Reliability


def test_the_error_is_that_of_bins_of_equal_width():
    confidences, right = [0.95, 0.91, 0.35, 0.31, 1.0], [True, False, False, True, True]
    found = Reliability.of(confidences, right)
    upper, lower = (0.95 + 0.91 + 1.0) / 3, 0.33
    assert [(one.count, one.accuracy) for one in found.bins] == [(2, 0.5), (3, pytest.approx(2 / 3))]
    assert [one.confidence for one in found.bins] == pytest.approx([lower, upper])
    assert found.error == pytest.approx((2 * abs(lower - 0.5) + 3 * abs(upper - 2 / 3)) / 5)


def test_the_surest_answers_come_first():
    found = Reliability.of([0.1, 0.9, 0.8, 0.3], [False, True, True, False])
    assert found.accuracies == {"0.5": 1.0, "0.8": 0.5, "0.9": 0.5}
    assert (found.risks[0], found.risks[49], found.risks[74]) == (0, 0, pytest.approx(1 / 3))
    assert found.risks[-1] == 0.5


def test_equally_sure_answers_have_no_order():
    for right in ([True, False, False, False], [False, False, False, True]):
        found = Reliability.of([0.5] * 4, right)
        assert list(found.accuracies.values()) == [0.25] * 3
        assert set(found.risks) == {0.75}


def test_json_values():
    values = Reliability.of([0.5, 0.7], [True, True]).as_dict()
    assert json.loads(json.dumps(values)) == values
    assert len(values["risks"]) == 100


def test_numbers_that_do_not_fit():
    with pytest.raises(ValueError, match="expected 1 and at least 1, found 2"):
        Reliability.of([0.5], [True, True])
    with pytest.raises(ValueError, match="found 0"):
        Reliability.of([], [])
