"""The tables of runtimes and of public datasets."""

import json

import pytest

from ftor.lab.lines import read_line
from ftor.lab.tables import FURTHER, further_tables
from ftor.show.results.formats import as_json, as_latex, as_markdown, as_text
from support.made_up_runs import metrics, of, parsing_run


@pytest.fixture(scope="module")
def found():
    group = {"name": "manner", "value": "around", "count": 4, "exact_match": 0.25, "share": None}
    records = [
        parsing_run("geo-iid", 0, 0.5) | {"epochs": 100},
        parsing_run("geo-iid", 1, 0.5) | {"epochs": 90, "seconds": 600.0},
        of("scan-jump", 0) | {"test": metrics(0.5, by_group=[group]), "seconds": 60.0},
    ]
    return further_tables([read_line(record) for record in records], FURTHER)


def test_runtimes_have_the_papers_columns(found):
    rows = [line.split(" | ") for line in as_markdown(found["runtime"]).splitlines() if " | " in line]
    assert rows[0][:4] == ["| dataset", "model", "epochs, paper", "runtime"]
    (geo,) = [row for row in rows if row[0] == "| Geoquery"]
    assert geo[1:] == ["F→R", "100", "20 min", "not run", "not run", "90–100", "6.0 min |"]
    assert "are of a GPU" in as_text(found["runtime"])
    assert "11.5 h" in as_latex(found["runtime"])


def test_public_datasets_have_no_column_of_the_paper(found):
    text = as_markdown(found["public"])
    assert "paper |" not in text
    assert "| SCAN | jump | exact match | 50.0 | 50.0 | – | 1 | 1.0 |" in text.replace("|  |", "| SCAN |")
    assert "| manner | around | 4 | 25.0 |" in text
    assert "Not run: SCAN (length), SCAN (around right), COGS (generalization)." in text


def test_json(found):
    values = json.loads(as_json(found.values()))
    (geo,) = [row for row in values["runtime"]["rows"] if row["dataset"] == "Geoquery"]
    assert geo["shipped"] == {"epochs": [100, 90], "minutes": [1.5, 10.5]}
    kinds = [kind for row in values["public"]["rows"] for kind in row["kinds"]]
    assert kinds == [{"name": "manner", "value": "around", "examples": 4, "values": [25.0]}]


def test_only_named_tables():
    assert list(further_tables([], ["geo", "public"])) == ["public"]
