"""Curves of confidences: their points are where the numbers say, and the page tells them in words."""

import re

import pytest

from ftor.metrics.reliability import Reliability
from ftor.metrics.significance import Estimate
from ftor.show.report.confidence import confidence
from ftor.show.report.curves import BOTTOM, LEFT, SIDE, TOP, calibration_curve, risk_curve

CONFIDENCES = [0.15, 0.15, 0.15, 0.15, 0.95, 0.95, 0.95, 0.95]
RIGHT = [False, False, False, True, True, True, True, True]


def points(svg):
    """The curve, with (0, 0) where the axes meet and (1, 1) at their ends."""
    (curve,) = (one.get("d") for one in svg.iter("path") if one.get("class") == "curve")
    places = [tuple(map(float, place.split())) for place in re.split("[ML]", curve)[1:]]
    return [((x - LEFT) / SIDE, 1 - (y - TOP) / SIDE) for x, y in places]


def test_the_calibration_curve_has_its_bins():
    svg = calibration_curve([(0.2, Estimate(0.25, 0.0, 0.5)), (0.9, Estimate(1.0, 0.4, 1.0))], "words")
    assert points(svg) == [pytest.approx((0.2, 0.25)), pytest.approx((0.9, 1.0))]
    assert sum(one.get("class") == "error" for one in svg.iter("path")) == 2
    assert svg.get("height") == str(TOP + SIDE + BOTTOM)
    assert svg.get("aria-label") == "words"


@pytest.mark.parametrize(("highest", "top"), [(0.08, 0.1), (0.3, 0.5), (1.0, 1.0)])
def test_the_risk_curve_fills_its_axes(highest, top):
    svg = risk_curve([(0.5, 0.0), (1.0, highest)], "words")
    assert points(svg) == [pytest.approx((0.5, 0)), pytest.approx((1, highest / top), abs=1e-3)]
    assert f"{100 * top:.3g}" in [one.text for one in svg.iter("text")]


def test_the_section():
    found = confidence(Reliability.of(CONFIDENCES, RIGHT))
    text = " ".join("".join(found.itertext()).split())
    assert f"expected calibration error{7.5:.1f} %" in text  # (0.1 + 0.05) / 2
    assert "accuracy100.0 %the 50 % most confident answers" in text
    calibration, risk = (one.get("aria-label") for one in found.iter("svg"))
    assert calibration == (
        "Calibration curve: confidence 15.0 %, right 25.0 %; confidence 95.0 %, right 100.0 %."
    )
    assert risk == "Share of wrong answers by coverage: 0.0 % at 50 %, 32.1 % at 80 %, 37.5 % at 100 %."


def test_a_model_without_calibration_has_no_section():
    assert confidence(None) is None
