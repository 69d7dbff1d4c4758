"""Predictions as JSON records."""

import json

import numpy as np

from ftor.model.prediction import Alternative, Prediction, Structure

SOURCE, TOKENS = ("@start@", "how", "many"), ("count", "all")
OTHER = Alternative("sum all", ("sum", "all"), -3.0, 0.1, 0.05)


def test_a_record_of_an_answer():
    prediction = Prediction(SOURCE, TOKENS, -0.5, -0.1, share=0.9, confidence=0.8, alternatives=(OTHER,))
    record = prediction.record("how  many")
    assert json.loads(json.dumps(record)) == {
        "source": "how  many",
        "prediction": "count all",
        "tokens": ["count", "all"],
        "score": -0.5,
        "confidence": 0.8,
        "alternatives": [{"prediction": "sum all", "score": -3.0, "share": 0.1, "confidence": 0.05}],
        "length": 2,
    }


def test_a_withheld_answer_heads_the_alternatives():
    prediction = Prediction(
        SOURCE, TOKENS, -0.5, -0.1, share=0.9, confidence=0.2, alternatives=(OTHER,), abstained=True,
        program="count(all)",
    )  # fmt: skip
    record = prediction.record("how many")
    assert (record["prediction"], record["tokens"], record["length"]) == (None, None, None)
    assert (record["abstained"], record["confidence"]) == (True, 0.2)
    assert [one["prediction"] for one in record["alternatives"]] == ["count(all)", "sum all"]
    assert record["alternatives"][0] == {
        "prediction": "count(all)", "score": -0.5, "share": 0.9, "confidence": 0.2,
    }  # fmt: skip


def test_an_error_is_all_there_is():
    prediction = Prediction(SOURCE, (), -np.inf, None, error="too long")
    assert prediction.record("x", tree=True) == {"source": "x", "error": "too long"}


def test_structure_is_added_where_it_is_asked_for():
    how = Structure((), np.full((3, 2), 1 / 3), (1, 0, 1), None)
    prediction = Prediction(SOURCE, TOKENS, -0.5, -0.1, how, well_formed=True)
    plain = prediction.record("how many")
    assert plain["well_formed"] is True
    assert "source_tokens" not in plain
    more = prediction.record("how many", fertilities=True, tree=True, alignment=True)
    assert list(more)[-4:] == ["source_tokens", "fertilities", "tree", "alignment"]
    assert (more["fertilities"], more["tree"]) == ([1, 0, 1], None)
    assert more["alignment"] == [[0.333333, 0.333333]] * 3
    json.dumps(more)
