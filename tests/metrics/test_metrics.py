"""Metrics: the edit distance against its definition, the rest against numbers worked out by hand."""

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.files import read_json_lines
from ftor.metrics import Group, Grouping, Judge, LengthGroup, Metrics, edit_distance, evaluate, group_keys

TOKENS = st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=7)

GOLDS = [["a", "b"], ["a", "b"], ["c", "d", "e"], []]
PREDICTIONS = [("a", "b"), ("b", "a"), ("c", "x", "e", "f", "g"), ()]


@cache
def slow_distance(one, other):
    if not one or not other:
        return len(one) + len(other)
    return min(
        slow_distance(one[1:], other[1:]) + (one[0] != other[0]),
        slow_distance(one[1:], other) + 1,
        slow_distance(one, other[1:]) + 1,
    )


@given(TOKENS, TOKENS)
def test_edit_distance_agrees_with_its_definition(one, other):
    assert edit_distance(one, other) == slow_distance(tuple(one), tuple(other))


def test_edit_distance_compares_tokens_and_not_letters():
    assert edit_distance(["answer", "state"], ["answer", "river"]) == 1
    assert edit_distance(["ab"], ["a", "b"]) == 2


def test_every_number():
    assert evaluate(GOLDS, PREDICTIONS) == Metrics(
        count=4,
        exact_match=0.5,
        edit_distance=(0 + 2 + 3 + 0) / 4,
        per=5 / 7,
        length_error=2 / 4,
        length_match=3 / 4,
        by_length=(LengthGroup(0, 1, 1.0), LengthGroup(2, 2, 0.5), LengthGroup(3, 1, 0.0)),
    )


def test_groups_by_other_keys():
    groups = evaluate(GOLDS, PREDICTIONS, keys=[10, 9, 10, 9]).by_length
    assert groups == (LengthGroup(9, 2, 0.5), LengthGroup(10, 2, 0.5))


JUDGES = (
    Judge("as_sets", lambda gold, predicted: set(gold) == set(predicted)),
    Judge("always", lambda gold, predicted: True),
)
HALVES = Grouping("halves", lambda source, gold: len(gold) // 2)
SIDES = Grouping("sides", lambda source, gold: "same" if source == gold else "other")
SOURCES = [["a", "b"], ["x"], ["x"], []]
GROUPS = group_keys([HALVES], SOURCES, GOLDS)


def test_judges_and_groups():
    metrics = evaluate(GOLDS, PREDICTIONS, judges=JUDGES, groups=GROUPS)
    assert metrics.shares == {"as_sets": 0.75, "always": 1.0}
    assert metrics.by_group == (Group("halves", 0, 1, 1.0, 1.0), Group("halves", 1, 3, 1 / 3, 2 / 3))
    assert evaluate(GOLDS, PREDICTIONS, groups=GROUPS).by_group[1] == Group("halves", 1, 3, 1 / 3, None)


def test_kinds_are_groups_too():
    groups = group_keys([HALVES, SIDES], SOURCES, GOLDS)
    metrics = evaluate(GOLDS, PREDICTIONS, groups=groups)
    assert [(group.name, group.value) for group in metrics.by_group] == [
        *(("halves", 0), ("halves", 1)),
        *(("sides", "other"), ("sides", "same")),
    ]
    assert sum(group.count for group in metrics.by_group if group.name == "sides") == len(GOLDS)
    assert Metrics.from_dict(json.loads(json.dumps(metrics.as_dict()))) == metrics


@pytest.mark.parametrize("judges", [(), JUDGES], ids=["no judges", "judges"])
def test_judged_metrics_survive_json(judges):
    metrics = evaluate(GOLDS, PREDICTIONS, judges=judges, groups=GROUPS)
    assert Metrics.from_dict(json.loads(json.dumps(metrics.as_dict()))) == metrics


LEDGERS = Path(__file__).parents[2] / "results"


def metrics_in(value):
    """All metrics somewhere in a record."""
    if isinstance(value, dict) and "by_length" in value:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from metrics_in(inner)


@pytest.mark.skipif(not LEDGERS.is_dir(), reason="the ledgers are not here")
def test_the_metrics_of_all_ledgers_can_be_read():
    records = [record for path in LEDGERS.rglob("*.jsonl") for record in read_json_lines(path)]
    read = 0
    for values in metrics_in(dict(enumerate(records))):
        before = {"shares": {}, "by_group": [], "scores": {}} | values
        assert Metrics.from_dict(values).as_dict() == before
        read += 1
    assert read > 400


@pytest.mark.parametrize("values", [{}, {"count": 1}, {"by_length": 3}])
def test_other_values_are_refused(values):
    with pytest.raises(ValueError, match="validation errors for Metrics"):
        Metrics.from_dict(values)


def test_metrics_from_before_there_were_judges_can_be_read():
    metrics = evaluate(GOLDS, PREDICTIONS)
    old = {name: value for name, value in metrics.as_dict().items() if name not in ("shares", "by_group")}
    assert Metrics.from_dict(old) == metrics


def test_nothing_but_empty_golds():
    assert evaluate([[]], [[]]).per == 0
    assert evaluate([[]], [["a", "b"]]).per == 2


def test_survives_json():
    metrics = evaluate(GOLDS, PREDICTIONS)
    loaded = json.loads(json.dumps(metrics.as_dict()))
    assert loaded["exact_match"] == 0.5
    assert loaded["by_length"][1] == {"length": 2, "count": 2, "exact_match": 0.5}
    assert loaded == metrics.as_dict()


@pytest.mark.parametrize(
    ("golds", "predictions", "keys", "message"),
    [
        ([["a"]], [], None, "predictions: expected 1, one for each gold, found 0"),
        ([["a"]], [["a"]], [1, 2], "keys: expected 1, one for each gold, found 2"),
        ([], [], None, "golds: there are none"),
    ],
)
def test_errors_name_what_is_wrong(golds, predictions, keys, message):
    with pytest.raises(ValueError, match=message):
        evaluate(golds, predictions, keys)
