"""The command line: what it prints where, its exit codes, and one clear sentence for whatever is wrong."""

import json
import re
import shlex
import shutil
from types import SimpleNamespace

import pytest
import typer

from ftor.cli.main import app
from ftor.datasets.mirror import SPLITS
from support.tiny import run_here, set_arguments, start

COMMANDS = [
    "train",
    "predict",
    "evaluate",
    "explain",
    "reproduce",
    "results",
    "align",
    "tune",
    "data list",
    "data import",
    "data fetch",
    "data generate",
    "data trivial",
]
FIELDS = ["source", "prediction", "tokens", "score", "length"]


def lines_of(finished):
    return [json.loads(line) for line in finished.out.splitlines()]


def write(path, *lines):
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    return path


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Train on files of one's own, in a folder of one's own; nothing else is found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def train(*arguments, **settings):
        return run_here("train", "transducer", *arguments, *set_arguments({"training.epochs": 1} | settings))

    return train


class TestOwnData:
    def test_all_bad_lines_of_all_files_are_listed_and_nothing_is_trained(self, own, tmp_path):
        write(tmp_path / "a.tsv", "a b\ta", "no tab", "\ttarget", "a\t", b"\xff\t\xfe", "a\tb")
        write(tmp_path / "b.tsv", "a\tb", "one\ttwo\tthree", "last\t")
        finished = own("--train", "a.tsv", "--dev", "b.tsv", "--test", "a.tsv", "--out", "run")
        assert (finished.code, finished.out) == (1, "")
        problems = finished.err.split("error: ")[1].splitlines()
        assert problems[:6] == [
            "a.tsv:2: expected source, tab, target, found no tab",
            "a.tsv:3: expected a source before the tab, found nothing",
            "a.tsv:4: expected a target after the tab, found nothing",
            "a.tsv:5: expected UTF-8, found other bytes",
            "b.tsv:2: expected source, tab, target, found 3 columns",
            "b.tsv:3: expected a target after the tab, found nothing",
        ]
        assert not (tmp_path / "run").exists()

    def test_windows_files_and_blank_ends_are_fine(self, own, tmp_path):
        write(tmp_path / "a.tsv", b"\xef\xbb\xbfa b\ta b b a\r", "b\tb b\r", "", "  ")
        assert own("--train", "a.tsv", "--dev", "a.tsv", "--out", "run").code == 0
        vocabulary = json.loads((tmp_path / "run" / "vocab.json").read_text())
        assert vocabulary == {"source": ["a", "b"], "target": ["a", "b"]}

    def test_pairs_out_of_reach_are_listed_and_left_out(self, own, tmp_path):
        write(tmp_path / "a.tsv", "a b\ta b b a", "a\t" + "a " * 9, "b\tb b", "c\t" + "c " * 10)
        finished = own("--train", "a.tsv", "--dev", "a.tsv", "--out", "run")
        assert finished.code == 0
        assert "warning: left out 2 of 4 training pairs" in finished.err
        assert "a.tsv:2: 9 target tokens from 1 source tokens" in finished.err
        assert "a.tsv:4: 10 target tokens from 1 source tokens" in finished.err
        metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
        assert (metrics["train"]["count"], metrics["dev"]["count"]) == (2, 4)

    def test_no_pair_in_reach(self, own, tmp_path):
        write(tmp_path / "a.tsv", "a\t" + "a " * 9)
        finished = own("--train", "a.tsv", "--out", "run")
        assert finished.code == 1
        assert "error: a.tsv: expected pairs that can be learned, found none" in finished.err
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("content", ["", "\n", " \n\t\n"], ids=["empty", "a line break", "blanks"])
    def test_an_empty_file(self, own, tmp_path, content):
        (tmp_path / "a.tsv").write_text(content)
        finished = own("--train", "a.tsv", "--out", "run")
        assert finished.code == 1
        assert "error: a.tsv: expected pairs of source and target, found an empty file" in finished.err
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
        assert finished.err == "error: nowhere: expected a data folder, found none\n"
        assert list(tmp_path.iterdir()) == []

    def test_own_training_pairs_with_the_experiments_test_are_told(self, own, tmp_path):
        (tmp_path / "mirror").mkdir()
        for name in ("mirror/test.tsv", "own.tsv"):
            (tmp_path / name).write_text("a b\ta b b a\n")
        chosen = ["--train", "own.tsv", "--dev", "own.tsv", "--data-dir", tmp_path]
        finished = run_here("train", "mirror", *chosen, "--out", tmp_path / "run", "--set", "epochs=1")
        assert finished.code == 0, finished.err
        assert "no --test is given: the model is tested on mirror/test.tsv of mirror" in finished.err

    def test_no_training_file(self, own):
        finished = own()
        assert finished.code == 1
        assert "data.train: expected a TSV file, found none; give one with --train FILE" in finished.err

    def test_a_folder_in_place_of_a_file(self, own, tmp_path):
        (tmp_path / "a.tsv").mkdir()
        finished = own("--train", "a.tsv")
        assert finished.code == 1
        assert "a.tsv: no such file" in finished.err

    def test_a_target_longer_than_memory_allows(self, own, tmp_path, monkeypatch):
        monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=10**9))
        write(tmp_path / "a.tsv", "a\ta", "a " * 500 + "\t" + "b " * 800)
        finished = own("--train", "a.tsv", "--out", "run")
        assert finished.code == 1
        assert "a.tsv:2: a target of 800 tokens needs about 6 GB of memory" in finished.err
        assert "and 1 GB are free" in finished.err
        assert not (tmp_path / "run").exists()

    def test_a_dev_file_out_of_reach_is_refused_and_one_partly_so_is_noted(self, own, tmp_path):
        write(tmp_path / "a.tsv", "a b\ta b b a", "b\tb b")
        write(tmp_path / "far.tsv", "a\t" + "a " * 99)
        finished = own("--train", "a.tsv", "--dev", "far.tsv", "--out", "run")
        assert finished.code == 1
        assert "far.tsv: expected dev pairs that model.max_fertility can reach, found none" in finished.err
        write(tmp_path / "some.tsv", "a\t" + "a " * 99, "a b\ta")
        finished = own("--train", "a.tsv", "--dev", "some.tsv", "--out", "run")
        assert finished.code == 0
        assert "some.tsv: 1 of 2 pairs are out of reach" in finished.err

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
        write(tmp_path / "a.tsv", "a b\ta b b a")
        finished = own("--train", "a.tsv", **{"data.task": "mirorr"})
        assert finished.code == 2
        tasks = "pairs, mirror, mirror-xyz, geo, atis, okapi, style"
        assert f"data.task: expected {tasks}, found 'mirorr'" in finished.err

    def test_without_a_dev_file_some_pairs_are_held_out(self, own, tmp_path, data):
        finished = own("--train", data / "train.tsv", "--out", "run")
        assert finished.code == 0
        assert "no dev file: every 10th training pair is held out (2 of 25)" in finished.err
        metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
        assert (metrics["train"]["count"], metrics["dev"]["count"], metrics["test"]) == (23, 2, None)
        assert "dev pairs, exact match by source length" in finished.out

    def test_few_pairs_choose_for_themselves(self, own, tmp_path):
        write(tmp_path / "a.tsv", "a\ta", "b\tb")
        finished = own("--train", "a.tsv")
        assert finished.code == 0
        assert (
            "warning: no dev file: the best epoch is chosen on the 2 training pairs themselves"
            in finished.err
        )

    @pytest.mark.parametrize("name", ["with space.tsv", "ünï.tsv", "😀.tsv", 'q"uote.tsv'])
    def test_any_file_name_will_do(self, own, tmp_path, name):
        write(tmp_path / name, "a\ta", "b\tb")
        finished = own("--train", name, "--out", "run")
        assert finished.code == 0, finished.err
        assert run_here("train", "--resume", "run").code == 0


class TestOut:
    def test_a_folder_with_something_in_it_is_refused(self, own, tmp_path, data):
        write(tmp_path / "precious", "text")
        finished = own("--train", data / "train.tsv", "--out", tmp_path)
        assert finished.code == 2
        assert f"--out {tmp_path}: the folder is not empty; use --resume to continue a run" in finished.err
        assert [path.name for path in tmp_path.iterdir()] == ["precious"]

    def test_a_file_is_refused(self, own, tmp_path, data):
        write(tmp_path / "file", "text")
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
            *("checkpoint.safetensors", "checkpoint.previous.safetensors"),
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


class TestPredict:
    def test_arguments(self, trained):
        finished = run_here("predict", trained, "a b c", "k  j ")
        assert (finished.code, finished.err) == (0, "")
        first, second = lines_of(finished)
        assert list(first) == FIELDS
        assert (first["source"], second["source"]) == ("a b c", "k  j ")
        assert first["prediction"] == " ".join(first["tokens"])
        assert first["length"] == len(first["tokens"])
        assert first["score"] < 0

    def test_stdin_and_files_give_the_same_as_arguments(self, trained, tmp_path):
        wanted = run_here("predict", trained, "a b c", "k j").out
        path = write(tmp_path / "in.txt", "a b c", "k j", "")
        assert run_here("predict", trained, stdin=b"a b c\r\nk j").out == wanted
        assert run_here("predict", trained, "--input", path).out == wanted
        finished = run_here("predict", trained, "--input", path, "--output", tmp_path / "out.jsonl")
        assert (finished.out, (tmp_path / "out.jsonl").read_text("utf-8")) == ("", wanted)

    def test_an_output_file_appears_whole_or_not_at_all(self, trained, tmp_path, monkeypatch):
        monkeypatch.setattr("ftor.cli.main.LINES_AT_ONCE", 1)
        monkeypatch.setattr(
            "ftor.cli.main._record", lambda source, *_: {"source": source}["b" * (source == "b") or "source"]
        )
        out = write(tmp_path / "out.jsonl", "old")
        with pytest.raises(KeyError):
            run_here("predict", trained, "a", "b", "--output", out)
        assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
        assert out.read_text() == "old\n"

    def test_many_sentences_keep_their_order(self, trained, monkeypatch):
        monkeypatch.setattr("ftor.cli.main.LINES_AT_ONCE", 3)
        sentences = ["a b c d", "a", "b c", "d", "e f g", "h", "i j k"]
        assert [line["source"] for line in lines_of(run_here("predict", trained, *sentences))] == sentences

    def test_structure_is_added_where_it_is_asked_for(self, trained):
        finished = run_here("predict", trained, "a b", "--alignment", "--fertilities", "--tree")
        (line,) = lines_of(finished)
        assert list(line) == [*FIELDS, "source_tokens", "fertilities", "tree", "alignment"]
        assert line["source_tokens"] == ["@start@", "a", "b"]
        assert sum(line["fertilities"]) == line["length"]
        assert [len(row) for row in line["alignment"]] == [line["length"]] * 3
        assert isinstance(line["tree"], str)
        (line,) = lines_of(run_here("predict", trained, "a b", "--tree"))
        assert list(line) == [*FIELDS, "source_tokens", "tree"]

    def test_unknown_words_and_other_letters(self, trained):
        finished = run_here("predict", trained, "ünï 😀")
        assert finished.code == 0
        assert '"source": "ünï 😀"' in finished.out

    def test_no_lines_are_no_predictions(self, trained):
        finished = run_here("predict", trained, stdin=b"")
        assert (finished.code, finished.out) == (0, "")

    def test_bad_lines_are_all_named(self, trained, tmp_path):
        path = write(tmp_path / "in.txt", "a", "", b"\xff", "b")
        finished = run_here("predict", trained, "--input", path)
        assert (finished.code, finished.out) == (1, "")
        assert finished.err.splitlines() == [
            f"error: {path}:2: expected a sentence, found none",
            f"{path}:3: expected a sentence, found no UTF-8",
        ]
        assert "stdin:1: expected a sentence" in run_here("predict", trained, stdin=b" \na\n").err

    def test_an_empty_argument(self, trained):
        finished = run_here("predict", trained, "a", "")
        assert (finished.code, finished.out) == (1, "")
        assert "expected text in each, found none in number 2" in finished.err

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["a", "--input", "x.txt"], 2, "expected sentences or --input, found both"),
            (["--input", "none.txt"], 1, "none.txt: No such file or directory"),
            (["a", "--output", "no/such/folder.jsonl"], 1, "No such file or directory"),
            (["a", "--lengths", "0"], 2, "--lengths"),
            (["a", "--batch-size", "0"], 2, "--batch-size"),
        ],
    )
    def test_bad_usage(self, trained, arguments, code, message):
        finished = run_here("predict", trained, *arguments)
        assert (finished.code, finished.out) == (code, "")
        assert message in " ".join(finished.err.replace("│", " ").split())

    def test_no_model(self, tmp_path):
        finished = run_here("predict", tmp_path / "none", "a")
        assert finished.code == 1
        assert (
            finished.err
            == f"error: {tmp_path / 'none'}: expected a model folder, found no config.toml in it\n"
        )


class TestEvaluate:
    def test_tables(self, trained, data):
        finished = run_here("evaluate", trained, data / "test.tsv")
        assert finished.code == 0
        for text in ("exact match", "mean edit distance", "mean length error", "length", "examples"):
            assert text in finished.out
        assert finished.err == ""

    def test_json(self, trained, data):
        finished = run_here("evaluate", trained, data / "test.tsv", "--json")
        (found,) = lines_of(finished)
        assert found == json.loads((trained / "metrics.json").read_text())["test"]

    def test_the_ledger(self, trained, data, tmp_path):
        ledger = tmp_path / "results.jsonl"
        assert run_here("evaluate", trained, data / "dev.tsv", "--ledger", ledger, "--lengths", "2").code == 0
        record = json.loads(ledger.read_text())
        assert (record["experiment"], record["file"], record["metrics"]["count"]) == (
            "transducer",
            "dev.tsv",
            8,
        )

    def test_bad_lines(self, trained, tmp_path):
        path = write(tmp_path / "a.tsv", "a\tb", "a")
        finished = run_here("evaluate", trained, path)
        assert (finished.code, finished.out) == (1, "")
        assert finished.err == f"error: {path}:2: expected source, tab, target, found no tab\n"


class TestAlign:
    LINES = ("the house\tdas haus", "the book\tdas buch", "a book\tein buch", "the [red]\tdas [red]")

    def test_the_summary(self, tmp_path):
        finished = run_here("align", write(tmp_path / "a.tsv", *self.LINES), "--no-start-token")
        assert (finished.code, finished.err) == (0, "")
        assert re.search(r"^pairs +4 *$", finished.out, re.M)
        assert re.search(r"^target positions +8 *$", finished.out, re.M)
        assert re.search(r"^of these aligned +8 \(100\.0%\) *$", finished.out, re.M)
        assert "start token" not in finished.out
        assert re.search(r"│ the +│ das +│ 3 +│ (0\.9|1\.0)", finished.out)
        assert re.search(r"│ \[red\] +│ \[red\] +│ 1", finished.out)

    def test_the_start_token_is_counted(self, tmp_path):
        path = write(tmp_path / "a.tsv", "a\tx a", "b\tx b", "c\tx c")
        finished = run_here("align", path)
        assert re.search(r"^on the start token +3 *$", finished.out, re.M)
        assert re.search(r"│ @start@ +│ x +│ 3 ", finished.out)

    def test_nothing_confident(self, tmp_path):
        finished = run_here("align", write(tmp_path / "a.tsv", "a b\tx y"), "--threshold", "0.9")
        assert (finished.code, "0 (0.0%)" in finished.out, "source word" in finished.out) == (0, True, False)

    def test_english_is_tokenized(self, tmp_path):
        pytest.importorskip("spacy")
        out = tmp_path / "out.jsonl"
        path = write(tmp_path / "a.tsv", "i'd go\tit's x")
        finished = run_here("align", path, "--source-tokenizer", "english", "--output", out)
        record = json.loads(out.read_text("utf-8"))
        assert (finished.code, record["source"]) == (0, ["@start@", "i", "'d", "go"])
        assert record["target"] == ["it's", "x"]

    def test_json_lines(self, tmp_path):
        out = tmp_path / "out.jsonl"
        finished = run_here("align", write(tmp_path / "a.tsv", *self.LINES), "--output", out)
        assert (finished.code, finished.out) == (0, "")
        records = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        assert [record["line"] for record in records] == [1, 2, 3, 4]
        assert records[0]["source"] == ["@start@", "the", "house"]
        assert records[0]["target"] == ["das", "haus"]
        for record in records:
            assert [len(row) for row in record["posteriors"]] == [len(record["target"])] * len(
                record["source"]
            )
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
            (["a.tsv"], 1, "a.tsv:2: expected source, tab, target, found no tab"),
            (["a.tsv", "--iterations", "0"], 2, "--iterations"),
            (["a.tsv", "--threshold", "1.5"], 2, "--threshold"),
        ],
    )
    def test_refuses(self, tmp_path, monkeypatch, arguments, code, message):
        monkeypatch.chdir(tmp_path)
        write(tmp_path / "a.tsv", "a\tb", "a")
        finished = run_here("align", *arguments, "--output", "out.jsonl")
        assert (finished.code, finished.out, (tmp_path / "out.jsonl").exists()) == (code, "", False)
        assert message in " ".join(finished.err.replace("│", " ").split())


class TestData:
    def test_list(self, own, tmp_path):
        (tmp_path / "data" / "mirror").mkdir(parents=True)
        write(tmp_path / "data" / "mirror" / "dev.tsv", "a\ta", "b\tb")
        finished = run_here("data", "list")
        assert finished.code == 0
        assert re.search(r"mirror\s+│ dev\s+│ 2\s+│ data/mirror/dev.tsv", finished.out)
        assert "mirror/train.tsv: generated by ftor train" in finished.out

    def test_list_shows_whole_paths(self, tmp_path):
        folder = tmp_path / ("long" * 30)
        (folder / "mirror").mkdir(parents=True)
        write(folder / "mirror" / "dev.tsv", "a\ta")
        shown = "".join(
            re.findall(r"│ ([^│]*?) *│$", run_here("data", "list", "--data-dir", folder).out, re.M)
        )
        assert str(folder / "mirror" / "dev.tsv") in shown

    def test_generate_to_stdout(self):
        arguments = ["data", "generate", "mirror", "--lengths", "3,5-6", "--size", "40", "--seed", "1"]
        finished = run_here(*arguments)
        assert (finished.code, finished.err) == (0, "")
        pairs = [line.split("\t") for line in finished.out.splitlines()]
        assert len(pairs) == 40
        assert {len(source.split()) for source, _ in pairs} == {3, 5, 6}
        assert all(target.split() == source.split() + source.split()[::-1] for source, target in pairs)
        assert run_here(*arguments).out == finished.out
        assert run_here(*arguments[:-1], "2").out != finished.out

    def test_generate_one_file(self, tmp_path):
        path = tmp_path / "new" / "x.tsv"
        finished = run_here("data", "generate", "mirror-xyz", "--split", "dev", "--size", "5", "--out", path)
        assert (finished.code, finished.out) == (0, "")
        assert len(path.read_text().splitlines()) == 5

    @pytest.mark.parametrize("task", SPLITS)
    def test_generate_all_splits(self, tmp_path, task):
        assert run_here("data", "generate", task, "--out", tmp_path).code == 0
        sizes = {path.stem: len(path.read_text().splitlines()) for path in tmp_path.iterdir()}
        assert sizes == {name: split.size for name, split in SPLITS[task].items()}

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["miror"], "expected mirror or mirror-xyz, found miror"),
            (["mirror"], "expected a folder for all splits, or --split"),
            (["mirror", "--split", "tset"], "expected one of train, dev, dev_iid, test"),
            (["mirror", "--lengths", "9-3"], "expected 11-20 or 30,50,100, found 9-3"),
            (["mirror", "--lengths", "0"], "expected 11-20 or 30,50,100, found 0"),
            (["mirror", "--lengths", "²"], "expected 11-20 or 30,50,100, found ²"),
            (["mirror", "--lengths", "3,"], "expected 11-20 or 30,50,100, found 3,"),
            (["mirror", "--lengths", ""], "expected 11-20 or 30,50,100, found"),
            (["mirror", "--size", "0"], "--size"),
        ],
    )
    def test_generate_refuses(self, arguments, message):
        finished = run_here("data", "generate", *arguments)
        assert (finished.code, finished.out) == (2, "")
        assert message in " ".join(finished.err.replace("│", " ").split())

    def test_one_split_is_the_same_alone_and_with_the_others(self, tmp_path):
        assert run_here("data", "generate", "mirror-xyz", "--out", tmp_path, "--seed", "3").code == 0
        for split in ("train", "dev", "test"):
            alone = run_here("data", "generate", "mirror-xyz", "--split", split, "--seed", "3").out
            assert alone == (tmp_path / f"{split}.tsv").read_text()


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_an_example(self, command):
        finished = run_here(*command.split(), "--help")
        assert finished.code == 0
        assert f"Example: ftor {command}" in " ".join(finished.out.split())

    def test_every_command_is_tested(self):
        assert {" ".join(path) for path, _ in commands()} == set(COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_the_example_is_understood(self, command):
        (found,) = [found for path, found in commands() if " ".join(path) == command]
        example = found.epilog.removeprefix("Example: ").split(" > ")[0]
        words = shlex.split(example, comments=False)[1 + len(command.split()) :]
        assert found.make_context(command, words).params

    @pytest.mark.parametrize("arguments", [[], ["data"]], ids=["ftor", "ftor data"])
    def test_no_command_shows_help(self, arguments):
        finished = run_here(*arguments)
        assert "Usage: " in finished.out + finished.err

    @pytest.mark.parametrize(
        "arguments", [["trian"], ["train", "--sed", "1"], ["train"], ["train", "mirror", "--seed", "x"]]
    )
    def test_bad_usage_is_2(self, arguments):
        finished = run_here(*arguments)
        assert (finished.code, finished.out) == (2, "")
        assert "Usage: " in finished.err

    @pytest.mark.parametrize(
        "arguments", [["mirorr"], ["mirror", "--set", "epoch=1"], ["mirror", "--seed", "-1"]]
    )
    def test_so_are_bad_configurations(self, arguments):
        finished = run_here("train", *arguments)
        assert (finished.code, finished.out) == (2, "")
        assert finished.err.startswith("error: ")


def commands():
    """The words of each command, and click's command."""
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        for inner, leaf in getattr(command, "commands", {"": command}).items():
            yield [word for word in (name, inner) if word], leaf


def test_a_reader_that_has_seen_enough():
    process = start("data", "generate", "mirror", "--size", "20000", "--lengths", "20")
    assert process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    assert process.wait(60) in (0, 1)
    process.stderr.close()
