import json

from ftor.lab.ledger import judgements_in, read_ledgers
from ftor.text.reading import read_pairs
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
    (line,) = read_ledgers(tmp_path)
    sources = [pair.source for pair in read_pairs(data / "dev.tsv")]
    assert line.judged["dev.tsv"].lengths == tuple(map(len, sources))


def test_a_run_keeps_the_lengths_of_its_sources(trained, data):
    judged = judgements_in(trained)
    assert judged["test"].lengths == tuple(len(pair.source) for pair in read_pairs(data / "test.tsv"))


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


class TestReport:
    def test_a_report_is_written_beside_the_tables(self, trained, data, tmp_path):
        path = tmp_path / "report.html"
        finished = run_here("evaluate", trained, data / "test.tsv", "--report", path, "--examples", "1")
        assert (finished.code, finished.err) == (0, "")
        assert "exact match" in finished.out
        page = path.read_text("utf-8")
        assert page.startswith("<!doctype html>")
        assert "transducer on test.tsv" in page
        assert "↑ is longer than the longest training sentence, which has 4." in page  # where training was
        assert "<svg" in page

    def test_other_training_pairs(self, trained, data, tmp_path):
        path, train = tmp_path / "report.html", write_lines(tmp_path / "train.tsv", "a\ta", "b c\tc", "bad")
        finished = run_here("evaluate", trained, data / "test.tsv", "--report", path, "--train", train)
        assert (finished.code, finished.err) == (0, "")
        assert "↑ is longer than the longest training sentence, which has 2." in path.read_text("utf-8")

    def test_a_model_without_structure_has_no_pictures(self, data, tmp_path):
        settings = {"architecture": "lstm", "width": 8, "hidden": 6, "max_steps": 12}
        changes = [part for key, value in settings.items() for part in ("--set", f"model.{key}={value}")]
        files = [part for name in ("train", "dev") for part in (f"--{name}", data / f"{name}.tsv")]
        folder, path = tmp_path / "lstm", tmp_path / "report.html"
        options = ["--set", "training.epochs=1", "--out", folder]
        assert run_here("train", "transducer", *files, *changes, *options).code == 0
        finished = run_here("evaluate", folder, data / "test.tsv", "--report", path)
        assert finished.code == 0, finished.err
        page = path.read_text("utf-8")
        assert "<article" in page
        assert "<svg" not in page

    def test_everything_that_cannot_be_written_is_one_line(self, trained, data, tmp_path):
        for path, message in (
            (tmp_path, "a folder, not a file for the report"),
            (tmp_path / "none" / "report.html", f"no such folder for the report: {tmp_path / 'none'}"),
        ):
            finished = run_here("evaluate", trained, data / "test.tsv", "--report", path)
            assert (finished.code, finished.out, finished.err) == (1, "", f"error: {path}: {message}\n")

    def test_no_pairs(self, trained, tmp_path):
        pairs, path = write_lines(tmp_path / "a.tsv"), tmp_path / "report.html"
        finished = run_here("evaluate", trained, pairs, "--report", path)
        assert (finished.code, finished.err) == (1, f"error: {pairs}: no pairs in the file\n")
        assert not path.exists()

    def test_no_training_pairs(self, trained, data, tmp_path):
        missing = tmp_path / "none.tsv"
        arguments = ("--report", tmp_path / "report.html", "--train", missing)
        finished = run_here("evaluate", trained, data / "test.tsv", *arguments)
        assert (finished.code, finished.err) == (1, f"error: {missing}: No such file or directory\n")
