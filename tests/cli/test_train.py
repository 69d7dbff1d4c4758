import json
import shutil
from pathlib import Path

import pytest

from ftor.datasets import TASKS
from ftor.datasets.mirror import SPLITS
from ftor.model import calibrating
from support.tiny import run_here, set_arguments, write_lines


class TestOwnData:
    def test_bad_lines_are_named_and_the_others_are_trained_on(self, own, tmp_path):
        write_lines(tmp_path / "a.tsv", "a b\ta", "no tab", "\ttarget", "a\t", "b\tb\t", "a\tb")
        write_lines(tmp_path / "b.tsv", "b b\tb", "one\ttwo\tthree", "last\t")
        finished = own("--train", "a.tsv", "--dev", "b.tsv", "--out", "run")
        assert finished.code == 0
        warnings = [line for line in finished.err.splitlines() if line.startswith("warning: ")]
        assert warnings == [
            "warning: a.tsv:2: no tab between source and target; left out",
            "warning: a.tsv:3: no source before the tab; left out",
            "warning: a.tsv:4: no target after the tab; left out",
            "warning: b.tsv:2: expected two columns, source and target, found 3; left out",
            "warning: b.tsv:3: no target after the tab; left out",
            "warning: left out: a.tsv: 3 of 6 lines, b.tsv: 2 of 3 lines",
        ]
        assert finished.err.splitlines()[-1] == warnings[-1]

    def test_other_encodings_are_read(self, own, tmp_path):
        write_lines(
            tmp_path / "a.tsv", "café noir\tx".encode("latin-1"), "café\ty", "thé\tz".encode("latin-1")
        )
        finished = own("--train", "a.tsv", "--out", "run")
        assert "a.tsv:1: not UTF-8; such lines are read as Windows-1252 (Latin-1)" in finished.err
        vocabulary = json.loads((tmp_path / "run" / "vocab.json").read_text("utf-8"))
        assert vocabulary["source"] == ["café", "noir", "thé"]

    @pytest.mark.parametrize("rows", [["a b\tb a"], ["a b\tb a"] * 12], ids=["one pair", "identical pairs"])
    def test_pairs_that_say_little_are_trained_on(self, own, tmp_path, rows):
        write_lines(tmp_path / "a.tsv", *rows)
        assert own("--train", "a.tsv", "--out", "run").code == 0

    def test_a_line_of_3000_words_costs_only_itself(self, own, tmp_path):
        long = " ".join("ab" * 1500)
        write_lines(tmp_path / "a.tsv", "a b\tb a", f"{long}\t{long}", "b\tb")
        write_lines(tmp_path / "b.tsv", "b a\ta b", f"{long}\t{long}")
        finished = own("--train", "a.tsv", "--dev", "b.tsv", "--out", "run")
        assert finished.code == 0, finished.err
        assert "warning: a.tsv:2: 3000 source tokens and 3000 target tokens are more than" in finished.err
        assert finished.err.splitlines()[-1] == "warning: left out: a.tsv: 1 pair too long"

    def test_a_csv_file_is_one_line(self, own, tmp_path):
        write_lines(tmp_path / "a.tsv", *['"a b","b a"'] * 20)
        finished = own("--train", "a.tsv")
        assert finished.code == 1
        error = finished.err.split("error: ")[1]
        assert error == "a.tsv:1: looks like CSV; expected a tab between source and target\n"

    def test_windows_files_and_blank_ends_are_fine(self, own, tmp_path):
        write_lines(tmp_path / "a.tsv", b"\xef\xbb\xbfa b\ta b b a\r", "b\tb b\r", "", "  ")
        assert own("--train", "a.tsv", "--dev", "a.tsv", "--out", "run").code == 0
        vocabulary = json.loads((tmp_path / "run" / "vocab.json").read_text())
        assert vocabulary == {"source": ["a", "b"], "target": ["a", "b"]}

    @pytest.mark.parametrize("content", ["", "\n", " \n\t\n"], ids=["empty", "a line break", "blanks"])
    def test_an_empty_file(self, own, tmp_path, content):
        (tmp_path / "a.tsv").write_text(content)
        finished = own("--train", "a.tsv", "--out", "run")
        assert finished.code == 1
        assert "error: a.tsv: no pairs in the file" in finished.err
        assert not (tmp_path / "run").exists()

    def test_a_missing_file(self, own, tmp_path):
        finished = own("--train", "a.tsv")
        assert finished.code == 1
        assert "error: a.tsv: no such file; looked in data, " in finished.err
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("command", [["train", "mirror"], ["data", "list"]])
    def test_a_missing_data_folder(self, own, tmp_path, command):
        finished = run_here(*command, "--data-dir", "nowhere")
        assert (finished.code, finished.out) == (1, "")
        assert finished.err == "error: nowhere: no such folder\n"
        assert list(tmp_path.iterdir()) == []

    def test_own_training_pairs_with_the_experiments_test_are_told(self, own, tmp_path):
        (tmp_path / "mirror").mkdir()
        for name in ("mirror/test.tsv", "own.tsv"):
            (tmp_path / name).write_text("a b\ta b b a\n")
        chosen = ["--train", "own.tsv", "--dev", "own.tsv", "--data-dir", tmp_path]
        finished = run_here("train", "mirror", *chosen, "--out", tmp_path / "run", "--set", "epochs=1")
        assert finished.code == 0, finished.err
        assert "no test file is given: the model is tested on mirror/test.tsv of mirror" in finished.err

    def test_no_training_file(self, own):
        finished = own()
        assert finished.code == 1
        assert "data.train: no TSV file; give one with --train FILE" in finished.err

    def test_a_folder_in_place_of_a_file(self, own, tmp_path):
        (tmp_path / "a.tsv").mkdir()
        finished = own("--train", "a.tsv")
        assert finished.code == 1
        assert "a.tsv: no such file" in finished.err

    def test_the_data_folder_goes_before_the_current_one(self, tmp_path, monkeypatch, data):
        monkeypatch.chdir(tmp_path)
        for folder in (tmp_path / "mirror", tmp_path / "elsewhere" / "mirror"):
            shutil.copytree(data, folder)
        finished = run_here(
            "train", "mirror", "--data-dir", "elsewhere", *set_arguments({"training.epochs": 1})
        )
        assert finished.code == 0, finished.err
        assert "train elsewhere/mirror/train.tsv" in finished.err

    def test_an_unknown_task_is_refused(self, own, tmp_path):
        write_lines(tmp_path / "a.tsv", "a b\ta b b a")
        finished = own("--train", "a.tsv", **{"data.task": "mirorr"})
        assert finished.code == 2
        tasks = ", ".join(TASKS)
        assert f"data.task: expected {tasks}, found 'mirorr'" in finished.err

    def test_without_a_dev_file_some_pairs_are_held_out(self, own, tmp_path, data):
        finished = own("--train", data / "train.tsv", "--out", "run")
        assert finished.code == 0
        assert "no dev file: every 10th training pair is held out (2 of 25)" in finished.err
        metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
        assert (metrics["train"]["count"], metrics["dev"]["count"], metrics["test"]) == (23, 2, None)
        assert "dev pairs, exact match by source length" in finished.out

    @pytest.mark.parametrize("name", ["with space.tsv", "ünï.tsv", "😀.tsv", 'q"uote.tsv'])
    def test_any_file_name_will_do(self, own, tmp_path, name):
        write_lines(tmp_path / name, "a\ta", "b\tb")
        finished = own("--train", name, "--out", "run")
        assert finished.code == 0, finished.err
        assert run_here("train", "--resume", "run").code == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["mirror", "--quick"], "--quick"), (["mirror", "--minutes", "1", "--explain-choice"], "--minutes")],
)
def test_options_of_a_race_are_refused_without_one(arguments, named):
    finished = run_here("train", *arguments)
    assert finished.code == 2
    assert f"Invalid value for {named}" in " ".join(finished.err.split())
    assert "only for pairs of your own" in finished.err


def test_a_race_has_one_training_file(tmp_path):
    path = write_lines(tmp_path / "a.tsv", "a\tb")
    finished = run_here("train", path, "--train", path)
    assert finished.code == 2
    assert "--train" in finished.err


class TestOut:
    def test_a_folder_with_something_in_it_is_refused(self, own, tmp_path, data):
        write_lines(tmp_path / "precious", "text")
        finished = own("--train", data / "train.tsv", "--out", tmp_path)
        assert finished.code == 2
        assert f"--out {tmp_path}: the folder is not empty; use --resume to continue a run" in finished.err
        assert [path.name for path in tmp_path.iterdir()] == ["precious"]

    def test_a_file_is_refused(self, own, tmp_path, data):
        write_lines(tmp_path / "file", "text")
        assert own("--train", data / "train.tsv", "--out", "file").code == 2

    def test_runs_are_numbered(self, own, tmp_path, data):
        for _ in range(2):
            assert own("--train", data / "dev.tsv").code == 0
        assert own("--train", data / "dev.tsv", "--seed", "7").code == 0
        folders = sorted(path.name for path in (tmp_path / "runs").iterdir())
        assert folders == ["transducer-0", "transducer-0-2", "transducer-7"]

    def test_a_run_that_could_not_begin_takes_no_number(self, own, tmp_path, data):
        assert own("--train", "none.tsv").code == 1
        assert own("--train", data / "dev.tsv").code == 0
        assert [path.name for path in (tmp_path / "runs").iterdir()] == ["transducer-0"]

    def test_what_a_model_folder_holds(self, trained):
        assert {path.name for path in trained.iterdir()} == {
            *("config.toml", "vocab.json", "model.safetensors", "metrics.json", "README.md", "log.jsonl"),
            *("checkpoint.safetensors", "checkpoint.previous.safetensors", "judgements.json.gz"),
        }

    def test_mirror_generates_its_data(self, own, tmp_path, monkeypatch):
        few = {name: split._replace(size=6) for name, split in SPLITS["mirror"].items()}
        monkeypatch.setitem(SPLITS, "mirror", few)
        arguments = set_arguments({"training.epochs": 1})
        finished = run_here("train", "mirror", *arguments)
        assert finished.code == 0, finished.err
        assert "data: mirror generated in runs/mirror-0/data" in finished.err
        assert len((tmp_path / "runs/mirror-0/data/mirror/train.tsv").read_text().splitlines()) == 6
        assert run_here("train", "--resume", "runs/mirror-0").code == 0


@pytest.mark.slow
def test_a_race_trains_what_it_chooses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calibrating, "FEWEST", 1)
    pairs = [f"{a} {b} {c}\t{a} {b} {c}".lower() for a in "abc" for b in "abc" for c in "abcd"]
    Path("pairs.tsv").write_text("\n".join(pairs) + "\n")
    options = ["--minutes", "0.1", "--set", "epochs=8", "--set", "model.width=8", "--explain-choice"]
    finished = run_here("train", "pairs.tsv", "--out", "model", "--ledger", "ledger.jsonl", *options)
    assert finished.code == 0, finished.err
    choice = json.loads(Path("model/choice.json").read_text())
    assert "what was tried" in finished.out
    assert f"\n{choice['winner']} (" in finished.out
    assert f"{choice['winner']} (" not in finished.err, "the reason is given once"
    tried = {run["candidate"] for run in choice["tried"]}
    assert {"taught", "words-first", "lstm"} <= tried
    assert all(run["problem"] is None for run in choice["tried"])
    assert max(run["epochs"] for run in choice["tried"]) <= 8
    held_out = sum(choice["held_out"].values())
    assert json.loads(Path("model/confidence.json").read_text())["pairs"] == held_out
    (line,) = Path("ledger.jsonl").read_text().splitlines()
    assert json.loads(line)["train"]["count"] == len(pairs)
    assert run_here("predict", "model", "a b").code == 0
    Path("model").rename("moved")
    resumed = run_here("train", "--resume", "moved", "--explain-choice")  # it finds the held-out pairs again
    assert (resumed.code, "what was tried" in resumed.out) == (0, True), resumed.err
    assert f"\n{choice['winner']} (" in resumed.out
    Path("moved").rename("model")
    again = run_here("train", "pairs.tsv", "--out", "model", *options)
    assert (again.code, "not empty" in again.err) == (2, True)
