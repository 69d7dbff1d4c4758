"""Two models on the same pairs: what counts as right, and what changed."""

import json

import numpy as np
import pytest

from ftor.errors import FtorError
from ftor.metrics import evaluate
from ftor.model.comparing import compare_models
from ftor.model.evaluation import Evaluation
from ftor.model.prediction import Prediction
from ftor.text.reading import Pair

GOLDS = [("a", "b"), ("c",), ("d",), ("e",)]


def evaluation(outputs, lines=(1, 2, 3, 5), judge=None):
    """Answers to four pairs. A judge accepts every answer that has the right letters."""
    outputs = [tuple(output) for output in outputs]
    pairs = [
        Pair(("x", str(line)), gold, line, target_text="-".join(gold))
        for line, gold in zip(lines, GOLDS, strict=False)
    ]
    golds = [pair.target for pair in pairs]
    answers = list(zip(golds, outputs, strict=True))
    verdicts = {"exact_match": np.array([gold == output for gold, output in answers])}
    if judge is not None:
        verdicts[judge] = np.array([sorted(gold) == sorted(output) for gold, output in answers])
    predictions = [Prediction(("x",), output, 0.0, None) for output in outputs]
    nothing = ((),) * len(pairs)
    return Evaluation(
        tuple(pairs), tuple(predictions), evaluate(golds, outputs, right=verdicts), verdicts,
        tuple(golds), tuple(outputs), nothing, nothing,
    )  # fmt: skip


def test_counts_and_changes():
    found = compare_models(evaluation(["ab", "c", "x", "x"]), evaluation(["ab", "x", "d", "e"]))
    assert found.measure == "exact_match"
    assert (found.result.only_first, found.result.only_second, found.result.both) == (1, 2, 1)
    assert [(change.line, change.better) for change in found.changes] == [(2, False), (3, True), (5, True)]
    change = found.changes[0]
    assert (change.source, change.gold, change.first, change.second) == ("x 2", "c", "c", "x")
    assert json.loads(json.dumps(found.as_dict()))["difference"]["value"] == 0.25


@pytest.mark.parametrize(
    ("judges", "measure", "better"),
    [
        (("letters", "letters"), "letters", 0),
        (("letters", None), "exact_match", 1),
        ((None, None), "exact_match", 1),
    ],
    ids=["same task", "different tasks", "no judge"],
)
def test_answers_are_right_by_the_accuracy_of_a_common_task(judges, measure, better):
    first, second = (
        evaluation(outputs, judge=judge)
        for outputs, judge in zip((["ba", "c", "d", "e"], ["ab", "c", "d", "e"]), judges, strict=True)
    )
    found = compare_models(first, second)
    assert (found.measure, found.result.only_second) == (measure, better)


def test_models_that_leave_out_different_lines_are_refused():
    with pytest.raises(FtorError, match="the models do not read the same pairs: 4 and 3"):
        compare_models(evaluation(["ab", "c", "d", "e"]), evaluation(["ab", "c", "d"], lines=(1, 2, 3)))
