"""Line charts as inline SVG, in the colours of the page."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ftor.metrics.significance import Estimate
from ftor.show.report.elements import Child, tag

SIDE, LEFT, BOTTOM, TOP, RIGHT = 300, 52, 44, 10, 14
"""Of the square between the axes, and the margins around it."""
TICKS = (0, 0.25, 0.5, 0.75, 1)


def calibration_curve(points: Sequence[tuple[float, Estimate]], description: str) -> Element:
    """Return the share of right answers over their confidence, with intervals, and the diagonal.

    Args:
        points: mean confidence and share of right answers of each bin, in order.
        description: what a reader who does not see the curve is told.
    """
    marks: list[Child] = [tag("path", d=f"M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}", class_="ideal")]
    for confidence, right in points:
        x = _x(confidence)
        marks.append(tag("path", d=f"M{x} {_y(right.low)}L{x} {_y(right.high)}", class_="error"))
    marks.append(_line([(confidence, right.value) for confidence, right in points]))
    for confidence, right in points:
        marks.append(tag("circle", cx=_x(confidence), cy=_y(right.value), r=4, class_="dot"))
    return _chart("confidence", "share of right answers", 1.0, marks, description)


def risk_curve(points: Sequence[tuple[float, float]], description: str) -> Element:
    """Return the share of wrong answers over the share of answers that are given.

    Args:
        points: coverage and risk, in order.
        description: what a reader who does not see the curve is told.
    """
    highest = max((risk for _, risk in points), default=0.0)
    top = next(limit for limit in (0.1, 0.25, 0.5, 0.75, 1.0) if highest <= limit)
    scaled = [(coverage, risk / top) for coverage, risk in points]
    return _chart(
        "coverage: share of answers given", "share of wrong answers", top, [_line(scaled)], description
    )


def _chart(x_name: str, y_name: str, top: float, marks: Sequence[Child], description: str) -> Element:
    """Return axes from 0 to 1, and from 0 to `top`, with marks between them."""
    width, height = LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM
    frame: list[Child] = []
    for tick in TICKS:
        frame.append(tag("path", d=f"M{_x(0)} {_y(tick)}H{_x(1)}", class_="grid"))
        frame.append(tag("path", d=f"M{_x(tick)} {_y(0)}V{_y(1)}", class_="grid"))
        frame.append(tag("text", f"{100 * tick:.0f}", x=_x(tick), y=_y(0) + 17, text_anchor="middle"))
        label = f"{100 * top * tick:.3g}"
        frame.append(tag("text", label, x=_x(0) - 7, y=_y(tick) + 4, text_anchor="end"))
    frame.append(tag("path", d=f"M{_x(0)} {_y(1)}V{_y(0)}H{_x(1)}", class_="axis", fill="none"))
    middle = TOP + SIDE / 2
    frame.append(tag("text", f"{x_name}, %", x=LEFT + SIDE / 2, y=height - 8, text_anchor="middle"))
    turned = f"rotate(-90 14 {middle:.0f})"
    frame.append(tag("text", f"{y_name}, %", x=14, y=middle, text_anchor="middle", transform=turned))
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return tag("svg", *frame, *marks, role="img", aria_label=description, **size)


def _line(points: Sequence[tuple[float, float]]) -> Element:
    places = "L".join(f"{_x(x)} {_y(y)}" for x, y in points)
    return tag("path", d=f"M{places}", class_="curve") if places else tag("g")


def _x(value: float) -> float:
    return round(LEFT + SIDE * value, 1)


def _y(value: float) -> float:
    return round(TOP + SIDE * (1 - value), 1)
