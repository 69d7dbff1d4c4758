import json

from support.tiny import run_here, write_lines


def test_tables(trained, data):
    finished = run_here("evaluate", trained, data / "test.tsv")
    assert finished.code == 0
    for text in ("exact match", "mean edit distance", "mean length error", "length", "examples"):
        assert text in finished.out
    assert finished.err == ""


def test_json(trained, data):
    finished = run_here("evaluate", trained, data / "test.tsv", "--json")
    assert json.loads(finished.out) == json.loads((trained / "metrics.json").read_text())["test"]


def test_the_ledger(trained, data, tmp_path):
    ledger = tmp_path / "results.jsonl"
    assert run_here("evaluate", trained, data / "dev.tsv", "--ledger", ledger, "--lengths", "2").code == 0
    record = json.loads(ledger.read_text())
    assert (record["experiment"], record["file"], record["metrics"]["count"]) == (
        "transducer",
        "dev.tsv",
        8,
    )


def test_bad_lines(trained, tmp_path):
    path = write_lines(tmp_path / "a.tsv", "a\tb", "a", "b\tb")
    finished = run_here("evaluate", trained, path, "--json")
    assert finished.code == 0
    assert json.loads(finished.out)["count"] == 2
    assert finished.err.splitlines() == [
        f"warning: {path}:2: no tab between source and target; left out",
        f"warning: left out: {path}: 1 of 3 lines",
    ]


def test_no_pairs(trained, tmp_path):
    path = write_lines(tmp_path / "a.tsv", "a")
    finished = run_here("evaluate", trained, path)
    assert (finished.code, finished.out) == (1, "")
    assert finished.err == f"error: {path}:1: no tab between source and target\n"
