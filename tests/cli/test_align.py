import json
import re

import pytest

from ftor.files import read_json_lines
from support.tiny import run_here, write_lines

LINES = ("the house\tdas haus", "the book\tdas buch", "a book\tein buch", "the [red]\tdas [red]")


def test_the_summary(tmp_path):
    finished = run_here("align", write_lines(tmp_path / "a.tsv", *LINES), "--no-start-token")
    assert (finished.code, finished.err) == (0, "")
    assert re.search(r"^pairs +4 *$", finished.out, re.M)
    assert re.search(r"^target positions +8 *$", finished.out, re.M)
    assert re.search(r"^of these aligned +8 \(100\.0 %\) *$", finished.out, re.M)
    assert "start token" not in finished.out
    assert re.search(r"│ the +│ das +│ 3 +│ (0\.9|1\.0)", finished.out)
    assert re.search(r"│ \[red\] +│ \[red\] +│ 1", finished.out)


def test_the_start_token_is_counted(tmp_path):
    path = write_lines(tmp_path / "a.tsv", "a\tx a", "b\tx b", "c\tx c")
    finished = run_here("align", path)
    assert re.search(r"^on the start token +3 *$", finished.out, re.M)
    assert re.search(r"│ @start@ +│ x +│ 3 ", finished.out)


def test_nothing_confident(tmp_path):
    finished = run_here("align", write_lines(tmp_path / "a.tsv", "a b\tx y"), "--threshold", "0.9")
    assert (finished.code, "0 (0.0 %)" in finished.out, "source word" in finished.out) == (0, True, False)


def test_english_is_tokenized(tmp_path):
    pytest.importorskip("spacy")
    out = tmp_path / "out.jsonl"
    path = write_lines(tmp_path / "a.tsv", "i'd go\tit's x")
    finished = run_here("align", path, "--source-tokenizer", "english", "--output", out)
    record = json.loads(out.read_text("utf-8"))
    assert (finished.code, record["source"]) == (0, ["@start@", "i", "'d", "go"])
    assert record["target"] == ["it's", "x"]


def test_json_lines(tmp_path):
    out = tmp_path / "out.jsonl"
    finished = run_here("align", write_lines(tmp_path / "a.tsv", *LINES), "--output", out)
    assert (finished.code, finished.out) == (0, "")
    records = read_json_lines(out)
    assert [record["line"] for record in records] == [1, 2, 3, 4]
    assert records[0]["source"] == ["@start@", "the", "house"]
    assert records[0]["target"] == ["das", "haus"]
    for record in records:
        assert [len(row) for row in record["posteriors"]] == [len(record["target"])] * len(record["source"])
        chosen = [
            [i, j]
            for i, row in enumerate(record["posteriors"])
            for j, posterior in enumerate(row)
            if posterior >= 0.8
        ]
        assert record["pairs"] == chosen


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.tsv"], 1, "none.tsv: No such file"),
        (["a.tsv"], 1, "a.tsv:2: no tab between source and target"),
        (["a.tsv", "--iterations", "0"], 2, "--iterations"),
        (["a.tsv", "--threshold", "1.5"], 2, "--threshold"),
    ],
)
def test_refuses(tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "a.tsv", "a\tb", "a")
    finished = run_here("align", *arguments, "--output", "out.jsonl")
    assert (finished.code, finished.out, (tmp_path / "out.jsonl").exists()) == (code, "", False)
    assert message in " ".join(finished.err.replace("│", " ").split())
