"""The section of a report about confidences: whether they can be trusted, and what abstaining gains."""

from xml.etree.ElementTree import Element

import numpy as np

from ftor.metrics.reliability import Reliability
from ftor.metrics.significance import Estimate, share
from ftor.reporting import percent
from ftor.show.report.curves import calibration_curve, risk_curve
from ftor.show.report.elements import Child, section, table, tag
from ftor.show.report.sections import interval, tile


def confidence(reliability: Reliability | None) -> Element | None:
    """Return the calibration curve and risk against coverage. None if the model is not calibrated."""
    if reliability is None:
        return None
    tiles = tag(
        "dl", tile("expected calibration error", percent(reliability.error), "0 % is perfect"), class_="tiles"
    )
    for coverage, accuracy in reliability.accuracies.items():
        answers = f"the {float(coverage):.0%} most confident answers".replace("%", " %")
        tiles.append(tile("accuracy", percent(accuracy), answers))
    bins = [(one.confidence, _estimate(one.count, one.accuracy), one.count) for one in reliability.bins]
    described = "; ".join(f"confidence {percent(at)}, right {percent(right.value)}" for at, right, _ in bins)
    calibration = tag(
        "figure",
        tag("figcaption", "Calibration: are answers right as often as the model says?"),
        calibration_curve([(at, right) for at, right, _ in bins], f"Calibration curve: {described}."),
        tag(
            "p",
            "On the dashed line, confidences are exactly right. Below it, they are too high.",
            class_="muted",
        ),
    )
    risks = reliability.risks
    points = [((place + 1) / len(risks), risk) for place, risk in enumerate(risks)]
    chosen = ", ".join(
        f"{percent(points[len(risks) * tenth // 10 - 1][1])} at {10 * tenth} %" for tenth in (5, 8, 10)
    )
    risk = tag(
        "figure",
        tag("figcaption", "Risk against coverage: what does abstaining gain?"),
        risk_curve(points, f"Share of wrong answers by coverage: {chosen}."),
        tag(
            "p",
            "The most confident answers are given first. At 100 % the model answers everything.",
            class_="muted",
        ),
    )
    rows: list[list[Child]] = [
        [percent(at), percent(right.value), interval(right), f"{count:,}"] for at, right, count in bins
    ]
    header = ["mean confidence", "right", "interval", "answers"]
    numbers = table("Answers by their confidence, in tenths.", header, rows, (0, 1, 2, 3))
    return section(
        "confidence",
        "Confidence",
        tiles,
        tag("div", calibration, risk, class_="columns curves"),
        tag("details", tag("summary", "Numbers of the calibration curve"), numbers),
    )


def _estimate(count: int, accuracy: float) -> Estimate:
    """Return a share of right answers with its interval."""
    return share(np.arange(count) < round(count * accuracy))
