"""Reading and appending the records of runs."""

import json

import pytest

from ftor.config import Config
from ftor.errors import FtorError
from ftor.lab.ledger import TIME_BY_LENGTH, append_once, evaluations, finished_runs, read_ledgers, seconds
from support.made_up_runs import mirror_run


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_later_line_replaces_an_earlier_one(tmp_path):
    lines = [{"experiment": "a", "seed": 0, "x": 1}, {"experiment": "a", "seed": 0, "x": 2}]
    write(tmp_path / "a.jsonl", lines)
    assert read_ledgers(tmp_path) == [lines[1]]


@pytest.mark.parametrize(
    "other", [{"config": "other"}, {"seed": 1}, {"file": "mirror-long.tsv"}, {"kind": TIME_BY_LENGTH}]
)
def test_a_line_about_something_else_replaces_nothing(tmp_path, other):
    lines = [mirror_run("mirror", 0, 1.0, {11: 1.0})]
    lines.append(lines[0] | other)
    write(tmp_path / "a.jsonl", lines)
    assert read_ledgers(tmp_path) == lines


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"experiment": "a", "seed": 0}\n{"experi')
    with pytest.raises(FtorError, match=r"a.jsonl:2: not a JSON object: '{\"experi'"):
        read_ledgers(tmp_path)


def test_runs_that_count_are_as_shipped_and_tested():
    counted = [mirror_run("mirror", seed, 1.0, {11: 1.0}) for seed in (3, 1)]
    others = [
        counted[0] | {"config": Config.load("mirror", ["epochs=1"]).hash},
        counted[0] | {"test": None},
        mirror_run("mirror-ar", 0, 1.0, {11: 1.0}),
    ]
    assert finished_runs([*others, *counted], "mirror") == counted[::-1], "by seed"


def test_a_record_is_appended_once_whatever_the_ledger(tmp_path):
    folder, record = tmp_path / "new", mirror_run("mirror", 0, 1.0, {11: 1.0})
    append_once(folder, "mirror", record)
    append_once(folder, "mirror", record)
    append_once(folder, "other", record | {"seconds": 1.0})
    assert sorted(path.name for path in folder.glob("*.jsonl")) == ["mirror.jsonl"]
    append_once(folder, "mirror", record | {"seed": 1})
    append_once(folder, "mirror", record | {"config": "other"})
    assert [(line["seed"], line["config"]) for line in read_ledgers(folder)] == [
        (0, record["config"]),
        (1, record["config"]),
        (0, "other"),
    ]


def test_evaluations_on_a_file():
    run = mirror_run("mirror", 0, 1.0, {11: 1.0})
    others = [run | {"file": "a.tsv", "metrics": 1}, run | {"file": "b.tsv", "metrics": 2}]
    assert evaluations([run, *others], "mirror", "b.tsv") == [2]


def test_old_records_have_no_time_for_dev():
    assert seconds({"seconds": 2.0}) == 2.0
    assert seconds({"seconds": 2.0, "dev_seconds": 1.0}) == 3.0
