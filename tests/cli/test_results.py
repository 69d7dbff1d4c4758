import json
from pathlib import Path
from typing import get_args

import pytest

from ftor.cli.options import TableName
from ftor.cli.results import Format
from ftor.lab.paper import TABLES
from ftor.lab.tables import tables
from ftor.show.results.formats import as_latex, as_markdown, as_text
from support.made_up_runs import parsing_run
from support.tiny import run_here


@pytest.fixture
def ledgers(tmp_path) -> Path:
    (tmp_path / "geo.jsonl").write_text(json.dumps(parsing_run("geo-iid", 0, 0.8, 0.9)) + "\n")
    return tmp_path


def test_names_are_those_of_the_paper():
    assert get_args(TableName) == tuple(TABLES)


@pytest.mark.parametrize(
    ("options", "shown"),
    [([], as_text), (["--format", "md"], as_markdown), (["--format", "latex"], as_latex)],
    ids=["text", "md", "latex"],
)
def test_formats(ledgers, options, shown):
    finished = run_here("results", "geo", "--ledgers", ledgers, *options)
    assert (finished.code, finished.err) == (0, "")
    assert finished.out == shown(tables(ledgers)["geo"]) + "\n"


def test_json(ledgers):
    finished = run_here("results", "--format", "json", "--ledgers", ledgers)
    values = json.loads(finished.out)
    assert list(values) == [*TABLES, "runtime", "public"]
    assert values["geo"]["rows"][0]["columns"]["grammar"]["shipped"]["mean"] == 90


def test_all_tables(ledgers):
    finished = run_here("results", "--ledgers", ledgers)
    assert [table.title for table in TABLES.values() if f"{table.title}: " not in finished.out] == []


@pytest.mark.parametrize("arguments", [["Geo"], ["geo", "--format", "html"]])
def test_bad_usage_names_what_is_valid(ledgers, arguments):
    finished = run_here("results", *arguments, "--ledgers", ledgers)
    assert (finished.code, finished.out) == (2, "")
    names = get_args(TableName if len(arguments) == 1 else Format)
    assert [name for name in names if f"'{name}'" not in finished.err] == []


def test_runs_that_no_table_counts_are_named(ledgers):
    assert "no table counts" not in run_here("results", "geo", "--ledgers", ledgers).err
    record = json.loads((ledgers / "geo.jsonl").read_text().splitlines()[0])
    others = [record | {"config": "0123456789ab"}, record | {"experiment": "my-own"}]
    (ledgers / "other.jsonl").write_text("".join(json.dumps(other) + "\n" for other in others))
    err = run_here("results", "geo", "--ledgers", ledgers).err
    assert "which no table counts: geo-iid (1), my-own (1)" in " ".join(err.split())


def test_no_ledgers(tmp_path):
    finished = run_here("results", "--ledgers", tmp_path / "none")
    assert (finished.code, finished.out) == (1, "")
    assert "no such folder; --ledgers names" in finished.err


def test_a_damaged_line_is_named_and_left_out(ledgers):
    with (ledgers / "geo.jsonl").open("a") as file:
        file.write('{"experiment": "geo')
    finished = run_here("results", "geo", "--ledgers", ledgers)
    assert (finished.code, "90.0" in finished.out) == (0, True)
    assert "geo.jsonl:2: this line is left out" in " ".join(finished.err.split())
