"""Tables of metrics."""

import re

import numpy as np
import pytest
from rich.console import Console

from ftor.metrics import WELL_FORMED, Judge, evaluate, verdicts
from ftor.show.metrics import run_tables, tables

GOLDS = [["a", "b"], ["a", "b"], ["c", "d", "e"], []]
PREDICTIONS = [("a", "b"), ("b", "a"), ("c", "x", "e", "f", "g"), ()]
JUDGES = (
    Judge("as_sets", lambda gold, predicted: set(gold) == set(predicted)),
    Judge("always", lambda gold, predicted: True),
)
GROUPS = {"halves": [1, 1, 1, 0], "kind": ["a", "b", "a", "b"]}


@pytest.mark.parametrize(
    ("judges", "header", "row"),
    [
        (JUDGES, ["halves", "examples", "exact match", "as sets"], ["1", "3", "33.3 %", "66.7 %"]),
        ((), ["halves", "examples", "exact match"], ["1", "3", "33.3 %"]),
    ],
    ids=["judges", "no judges"],
)
def test_the_table_shows_judges_and_groups(judges, header, row):
    console = Console(width=80)
    with console.capture() as shown:
        console.print(tables(evaluate(GOLDS, PREDICTIONS, judges=judges, groups=GROUPS)))
    rows = [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in shown.get().splitlines()]
    assert header in rows
    assert row in rows
    assert ["kind", *header[1:]] in rows
    assert ["b", "2", "50.0 %", "100.0 %" if judges else "50.0 %"][: len(header)] in rows
    assert (["as sets", "75.0 %"] in rows) == bool(judges)


def test_the_share_in_the_grammar_is_named():
    right = verdicts(GOLDS, PREDICTIONS) | {WELL_FORMED: np.array([False, True, True, True])}
    console = Console(width=80)
    with console.capture() as shown:
        console.print(tables(evaluate(GOLDS, PREDICTIONS, right=right)))
    (row,) = [line for line in shown.get().splitlines() if "in the model's grammar" in line]
    assert "75.0 %" in row
    assert "well" not in shown.get()


@pytest.mark.parametrize("grammar", [True, False])
def test_titles_say_whether_there_was_a_grammar(grammar):
    found = evaluate(GOLDS, PREDICTIONS).as_dict()
    metrics = {"dev": found, "test": None} | ({"dev_grammar": found} if grammar else {})
    console = Console(width=80)
    with console.capture() as shown:
        console.print(run_tables(metrics))
    titles = [line.strip() for line in shown.get().splitlines() if line.startswith("dev")]
    without = "dev pairs without the grammar, exact match by source length:"
    assert titles == (
        [without, "dev pairs with the grammar:"] if grammar else [without.replace(" without the grammar", "")]
    )


def test_titles_say_that_dev_pairs_were_trained_on():
    found = evaluate(GOLDS, PREDICTIONS).as_dict()
    console = Console(width=80)
    with console.capture() as shown:
        console.print(run_tables({"train": {"count": 9, "dev_pairs": 3}, "dev": found, "test": None}))
    assert f"trained on (3 of {len(GOLDS)} pairs), exact match" in shown.get()
    assert "dev" not in shown.get()


def test_the_table_shows_the_summary_and_each_length():
    console = Console(width=80)
    with console.capture() as shown:
        console.print(tables(evaluate(GOLDS, PREDICTIONS, keys=[11, 11, 12, 12])))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.get().splitlines()]
    assert ["exact match", "50.0 %"] in rows
    assert ["mean edit distance", "1.25"] in rows
    assert ["edits per gold token", "0.7143"] in rows
    assert ["12", "2", "50.0 %"] in rows
