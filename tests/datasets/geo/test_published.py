"""The published queries: their known answers, and the counts that names without blanks change."""

import json
import os
from pathlib import Path

import pytest

from ftor.datasets import judges
from ftor.datasets.geo import answer
from ftor.metrics import evaluate
from ftor.text.reading import read_pairs

pytestmark = pytest.mark.skipif(
    not os.environ.get("FTOR_DATA"), reason="FTOR_DATA does not say where the real data is"
)


@pytest.fixture(scope="module")
def folder():
    return Path(os.environ["FTOR_DATA"])


@pytest.mark.parametrize(("field", "released"), [("answer", False), ("answer_released_code", True)])
def test_known_answers(folder, field, released):
    known = json.loads((folder / "geo" / "answers.json").read_text())
    assert len(known) == 250
    for query in known:
        found = answer(query["tokens"].split(), folder, released)
        assert (query["tokens"], f"[{','.join(found)}]") == (query["tokens"], query[field])


@pytest.mark.parametrize(
    ("split", "changed", "empty", "empty_as_released"),
    [("iid", (47, 5, 22), 18, 39), ("template", (43, 8, 23), 27, 49), ("len", (44, 9, 21), 30, 48)],
)
def test_what_blanks_in_names_change(folder, split, changed, empty, empty_as_released):
    found = []
    for part in ("train", "dev", "test"):
        golds = [pair.target for pair in read_pairs(folder / f"geo/{split}_{part}.tsv")]
        intact = [answer(gold, folder) for gold in golds]
        released = [answer(gold, folder, released=True) for gold in golds]
        found.append(sum(one != other for one, other in zip(intact, released, strict=True)))
    assert tuple(found) == changed
    assert (intact.count(()), released.count(())) == (empty, empty_as_released)


def test_golds_are_right(folder):
    golds = [pair.target for pair in read_pairs(folder / "geo/len_dev.tsv")]
    predictions = [[*gold[:-1], "nowhere"] for gold in golds]
    shares = evaluate(golds, golds, judges=judges("geo", folder)).shares
    assert shares == {"execution_accuracy": 1.0, "execution_accuracy_released": 1.0}
    assert 0 < evaluate(golds, predictions, judges=judges("geo", folder)).shares["execution_accuracy"] < 1
