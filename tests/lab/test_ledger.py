"""Reading and appending the lines of ledgers."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from ftor.config import Config
from ftor.errors import FtorError
from ftor.lab.ledger import JUDGEMENTS, append, append_once, evaluations, finished_runs, read_ledgers
from ftor.lab.lines import FORMAT, TIME_BY_LENGTH, EvaluationLine, RunLine, TimesLine, read_line
from ftor.metrics.judgements import Judgements
from ftor.reporting import Report
from support.made_up_runs import metrics, mirror_run

LEDGERS = Path(__file__).parents[2] / "results"
RUN = mirror_run("mirror", 0, 1.0, {11: 1.0})


class Warned(Report):
    def __init__(self):
        self.texts = []

    def warn(self, text):
        self.texts.append(text)


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_later_line_replaces_an_earlier_one(tmp_path):
    write(tmp_path / "a.jsonl", [RUN, RUN | {"seconds": 2.0}])
    assert [line.seconds for line in read_ledgers(tmp_path)] == [2.0]


@pytest.mark.parametrize(
    "other",
    [
        {"config": "other"},
        {"seed": 1},
        {"file": "mirror-long.tsv", "metrics": metrics(1.0)},
        {"kind": TIME_BY_LENGTH, "times": []},
    ],
)
def test_a_line_about_something_else_replaces_nothing(tmp_path, other):
    write(tmp_path / "a.jsonl", [RUN, RUN | other])
    assert len(read_ledgers(tmp_path)) == 2


def test_lines_of_the_first_format_are_read():
    times = {"kind": TIME_BY_LENGTH, "times": [{"length": 10, "seconds": 0.5}]}
    evaluated = {"file": "a.tsv", "metrics": metrics(0.5)}
    read = [read_line(RUN), read_line(RUN | evaluated), read_line(RUN | times)]
    assert [type(line) for line in read] == [RunLine, EvaluationLine, TimesLine]
    assert (read[0].test.exact_match, read[0].dev_seconds, read[0].all_seconds) == (1.0, 0.0, 120.0)
    assert read_line(RUN | {"dev_seconds": 1.0}).all_seconds == 121.0
    assert read[2].times[0].seconds == 0.5


@pytest.mark.skipif(not LEDGERS.is_dir(), reason="the ledgers are not here")
def test_the_committed_ledgers_have_no_damaged_line():
    report = Warned()
    written = sum(len(path.read_text("utf-8").splitlines()) for path in LEDGERS.glob("*.jsonl"))
    assert len(read_ledgers(LEDGERS, report)) == written
    assert report.texts == []


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        (b'{"experi', "not a JSON object: '{\"experi'"),
        (b"[1]", "not a JSON object: '[1]'"),
        (b'"\xff"', "not a JSON object: '\"\ufffd\"'"),
        (b'{"seed": 0, "seconds": 1}', "experiment: field required"),
        (b'{"experiment": "a", "seed": "x", "seconds": 1}', "seed: input should be a valid integer, "),
        (b'{"experiment": "a", "seed": 0, "seconds": 1, "test": {}}', "test.count: field required"),
        (
            b'{"experiment": "a", "seed": 0, "kind": "dream"}',
            "kind: input tag 'dream' found using 'kind' does",
        ),
        (
            b'{"experiment": "a", "seed": 0, "seconds": 1, "format": 3}',
            "expected format 1 to 2, found 3; a newer",
        ),
    ],
)
def test_a_damaged_line_is_named_and_left_out(tmp_path, damaged, complaint):
    good = json.dumps(RUN).encode()
    other = json.dumps(RUN | {"seed": 1}).encode()
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([good, damaged, other, b""]))
    report = Warned()
    assert [line.seed for line in read_ledgers(tmp_path, report)] == [0, 1]
    (warning,) = report.texts
    assert warning.startswith(f"{tmp_path}/a.jsonl:2: this line is left out: {complaint}")


def test_what_is_no_line_is_not_written(tmp_path):
    with pytest.raises(FtorError, match=r"test\.exact_match: field required"):
        append(tmp_path / "a.jsonl", RUN | {"test": {"count": 1}})
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_somebody_was_killed_in_damages_no_other(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(RUN)[:50])
    append(tmp_path / "a.jsonl", RUN)
    report = Warned()
    assert [line.seed for line in read_ledgers(tmp_path, report)] == [0]
    assert len(report.texts) == 1


def test_new_lines_have_format_and_kind(tmp_path):
    append(tmp_path / "a.jsonl", RUN)
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"format": FORMAT, "kind": "run", **RUN}


def test_runs_that_count_are_as_shipped_and_tested():
    counted = [mirror_run("mirror", seed, 1.0, {11: 1.0}) for seed in (3, 1)]
    others = [
        counted[0] | {"config": Config.load("mirror", ["epochs=1"]).hash},
        counted[0] | {"test": None},
        mirror_run("mirror-ar", 0, 1.0, {11: 1.0}),
    ]
    found = finished_runs(map(read_line, [*others, *counted]), "mirror")
    assert found == [read_line(record) for record in counted[::-1]], "by seed"


def test_a_record_is_appended_once_whatever_the_ledger(tmp_path):
    folder = tmp_path / "new"
    append_once(folder, "mirror", RUN)
    append_once(folder, "mirror", RUN)
    append_once(folder, "other", RUN | {"seconds": 1.0})
    assert sorted(path.name for path in folder.glob("*.jsonl")) == ["mirror.jsonl"]
    append_once(folder, "mirror", RUN | {"seed": 1})
    append_once(folder, "mirror", RUN | {"config": "other"})
    assert [(line.seed, line.config) for line in read_ledgers(folder)] == [
        (0, RUN["config"]),
        (1, RUN["config"]),
        (0, "other"),
    ]


def test_evaluations_on_a_file():
    others = [RUN | {"file": name, "metrics": metrics(share)} for name, share in (("a", 0.1), ("b", 0.2))]
    found = evaluations(map(read_line, [RUN, *others]), "mirror", "b")
    assert [each.exact_match for each in found] == [0.2]


JUDGED = {"test": Judgements("0123", {"exact_match": np.array([True, False, True])})}


class TestJudgements:
    def test_they_lie_beside_the_ledger_and_come_back_with_the_line(self, tmp_path):
        append(tmp_path / "a.jsonl", RUN, JUDGED)
        append(tmp_path / "a.jsonl", RUN | {"seed": 1})
        with_, without = read_ledgers(tmp_path)
        assert with_.judged["test"].pairs == "0123"
        assert with_.judged["test"].right["exact_match"].tolist() == [True, False, True]
        assert without.judged == {}
        assert "judged" not in (tmp_path / "a.jsonl").read_text()

    def test_an_evaluation_has_a_file_of_its_own(self, tmp_path):
        append(tmp_path / "a.jsonl", RUN, JUDGED)
        append(tmp_path / "a.jsonl", RUN | {"file": "x/long.tsv", "metrics": metrics(1.0)}, JUDGED)
        assert len(list((tmp_path / JUDGEMENTS).iterdir())) == 2

    def test_a_newer_line_without_any_has_not_those_of_the_older_one(self, tmp_path):
        append(tmp_path / "a.jsonl", RUN, JUDGED)
        append(tmp_path / "a.jsonl", RUN)
        assert all(line.judged == {} for line in read_ledgers(tmp_path))

    @pytest.mark.parametrize(
        "content",
        [
            b"no gzip",
            gzip.compress(b"{}", mtime=0),
            gzip.compress(b'{"format": 2}', mtime=0),
            gzip.compress(b"[]", mtime=0)[:-9],
            gzip.compress(b"{}", mtime=0)[:10] + 20 * b"\xff",
        ],
        ids=["no gzip", "empty", "other format", "cut off", "damaged inside"],
    )
    def test_damaged_ones_are_left_out_with_a_warning(self, tmp_path, content):
        append(tmp_path / "a.jsonl", RUN, JUDGED)
        (path,) = (tmp_path / JUDGEMENTS).iterdir()
        path.write_bytes(content)
        report = Warned()
        (line,) = read_ledgers(tmp_path, report)
        assert line.judged == {}
        assert str(path) in report.texts[0]
