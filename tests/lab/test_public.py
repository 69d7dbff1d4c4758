import numpy as np
import pytest

from ftor.lab.lines import read_line
from ftor.lab.public import public_table
from ftor.metrics.judgements import Judgements
from support.made_up_runs import metrics, of


def run(experiment, seed, exact, **test):
    record = of(experiment, seed) | {"test": metrics(exact, **test), "seconds": 60.0}
    return read_line(record)


def row(lines, experiment):
    (found,) = [row for row in public_table(lines).rows if row.experiment == experiment]
    return found


def group(value, share):
    return {"name": "manner", "value": value, "count": 4, "exact_match": share, "share": None}


def test_accuracy_by_kind_over_seeds():
    lines = [
        run("scan-jump", 0, 0.5, by_group=[group("around", 0.25), group("plain", 0.75)]),
        run("scan-jump", 1, 0.7, by_group=[group("around", 0.5), group("plain", 0.75)]),
    ]
    found = row(lines, "scan-jump")
    assert found.seeds == (0, 1)
    assert found.measures["exact_match"].values == pytest.approx((50, 70))
    kinds = [(kind.value, kind.examples, kind.right.values) for kind in found.kinds]
    assert kinds == [("around", 4, (25, 50)), ("plain", 4, (75, 75))]


def test_intervals_and_the_judges_of_the_task():
    line = run("cogs", 0, 0.5, shares={"conjunct_accuracy": 0.75})
    judged = {"test": Judgements("p", {"exact_match": np.array([True, False] * 10)})}
    found = row([line.model_copy(update={"judged": judged})], "cogs").measures
    assert list(found) == ["exact_match", "conjunct_accuracy"]
    assert found["exact_match"].interval.low < 50 < found["exact_match"].interval.high
    assert (found["conjunct_accuracy"].mean, found["conjunct_accuracy"].interval) == (75, None)


def test_without_runs_a_row_is_empty():
    found = row([], "scan-length")
    assert (found.seeds, found.measures, found.minutes, found.kinds) == ((), {}, None, ())
