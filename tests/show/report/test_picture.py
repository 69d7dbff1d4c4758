"""Alignment pictures: what stands beside what, and which lines are drawn."""

import numpy as np
import pytest

from ftor.model.prediction import Prediction, Step, Structure
from ftor.show.report.picture import alignment_picture, beside

X = None


@pytest.mark.parametrize(
    ("output", "gold", "rows"),
    [
        ("a b", "a b", [(0, 0), (1, 1)]),
        ("a x", "a b", [(0, 0), (1, 1)]),
        ("a b", "a", [(0, 0), (1, X)]),
        ("b", "a b", [(X, 0), (0, 1)]),
        ("", "a b", [(X, 0), (X, 1)]),
        ("", "", []),
    ],
)
def test_output_and_gold_stand_beside_each_other(output, gold, rows):
    assert beside(output.split(), gold.split()) == rows


def drawn(alignment, output, gold, source=("@start@", "go", "home")):
    step = Step("fertility", alignment, output)
    structure = Structure((step,), alignment, (1, 2, 0), None)
    prediction = Prediction(source, output, 0.0, 0.0, structure)
    return alignment_picture(prediction, structure, gold)


def texts(svg, class_):
    return [one.text for one in svg.iter("text") if one.get("class") == class_]


def test_lines_are_the_probable_alignments():
    alignment = np.array([[0.9, 0.0, 0.02], [0.1, 1.0, 0.0], [0.0, 0.0, 0.98]])
    svg = drawn(alignment, ("run", "go", "x"), ("run", "go", "home"))
    lines = [float(one.get("opacity")) for one in svg.iter("path")]
    assert lines == [0.1, 0.9, 0.98, 1.0]
    assert svg.get("aria-label") == "Alignment: run from ‹start›; go from go; x from home."


def test_differences_are_named():
    svg = drawn(np.eye(3)[:, :2], ("run", "x"), ("run", "home", "now"))
    assert sorted(texts(svg, "extra")) == ["x", "–"]
    assert sorted(texts(svg, "lacking")) == ["home", "now"]
    assert texts(svg, "same") == ["run"]
    assert [one.text for one in svg.iter("text")].count("≠") == 2
    assert {"‹start› ×1", "go ×2", "home ×0"} <= {one.text for one in svg.iter("text")}


def test_everything_is_inside():
    output = tuple("part" * 20 for _ in range(30))
    svg = drawn(np.full((3, 30), 1 / 3), output, ("gold",) * 40)
    width, height = int(svg.get("width")), int(svg.get("height"))
    for one in svg.iter("text"):
        assert 0 <= float(one.get("x")) <= width
        assert 0 <= float(one.get("y")) <= height
        assert len(one.text) <= 35


def test_an_empty_output():
    svg = drawn(np.zeros((3, 0)), (), ("gold",))
    assert svg.get("aria-label") == "Alignment: the output is empty."
    assert not list(svg.iter("path"))
