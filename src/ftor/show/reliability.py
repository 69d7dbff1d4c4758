"""How far the confidences of a model can be trusted: a table, and a figure of risk and calibration."""

from pathlib import Path

from matplotlib.figure import Figure
from rich.table import Table

from ftor.metrics.reliability import POINTS, Reliability
from ftor.reporting import percent
from ftor.show.drawing import BLUE, GREY, ORANGE, house_style, save


def table(reliability: Reliability) -> Table:
    """Return a table of the calibration error and of the accuracy at each coverage."""
    made = Table("confidence", "value")
    made.columns[1].justify = "right"
    made.add_row("expected calibration error", percent(reliability.error))
    for coverage, accuracy in reliability.accuracies.items():
        made.add_row(f"accuracy of the surest {float(coverage):.0%}".replace("%", " %"), percent(accuracy))
    return made


def draw(reliability: Reliability, path: Path, title: str) -> None:
    """Draw the share of wrong answers against coverage, and accuracy against confidence."""
    with house_style():
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        risk, curve = figure.subplots(1, 2)
        coverage = [100 * (point + 1) / POINTS for point in range(POINTS)]
        risk.plot(coverage, [100 * value for value in reliability.risks], color=BLUE)
        risk.set(xlabel="answered, surest first (%)", ylabel="wrong (%)", xlim=(0, 100), title="Risk")
        risk.set_ylim(bottom=0)
        curve.plot([0, 100], [0, 100], color=GREY, linewidth=0.8, linestyle="--")
        confidences, accuracies, counts = zip(
            *((100 * one.confidence, 100 * one.accuracy, one.count) for one in reliability.bins), strict=True
        )
        curve.plot(confidences, accuracies, color=ORANGE, marker="o")
        for x, y, count in zip(confidences, accuracies, counts, strict=True):
            curve.annotate(str(count), (x, y), (4, -9), textcoords="offset points", fontsize=7, color=GREY)
        curve.set(xlabel="confidence (%)", ylabel="right (%)", xlim=(0, 105), ylim=(0, 105))
        curve.set_title(f"Calibration, error {percent(reliability.error)}")
        save(figure, path, title)
