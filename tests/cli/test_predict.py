import json
import shutil
from pathlib import Path

import pytest

import ftor
from ftor.text.reading import write_pairs
from ftor.text.vocabularies import Vocabularies
from support.tiny import run_here, write_lines

FIELDS = ["source", "prediction", "tokens", "score", "confidence", "alternatives", "length"]


def json_lines(finished):
    return [json.loads(line) for line in finished.out.splitlines()]


def test_arguments(trained):
    finished = run_here("predict", trained, "a b c", "k  j ")
    assert (finished.code, finished.err) == (0, "")
    first, second = json_lines(finished)
    assert list(first) == FIELDS
    assert (first["source"], second["source"]) == ("a b c", "k  j ")
    assert first["prediction"] == " ".join(first["tokens"])
    assert first["length"] == len(first["tokens"])
    assert first["score"] < 0


def test_stdin_and_files_give_the_same_as_arguments(trained, tmp_path):
    wanted = run_here("predict", trained, "a b c", "k j").out
    path = write_lines(tmp_path / "in.txt", "a b c", "k j")
    assert run_here("predict", trained, stdin=b"a b c\r\nk j").out == wanted
    assert run_here("predict", trained, "--input", path).out == wanted
    finished = run_here("predict", trained, "--input", path, "--output", tmp_path / "out.jsonl")
    assert (finished.out, (tmp_path / "out.jsonl").read_text("utf-8")) == ("", wanted)


def test_the_input_is_not_overwritten(trained, tmp_path):
    path = write_lines(tmp_path / "in.txt", "a b c")
    (tmp_path / "link").symlink_to(path)
    for output in (path, tmp_path / "link"):
        finished = run_here("predict", trained, "--input", path, "--output", output)
        assert finished.code == 2
        assert "which it would replace" in " ".join(finished.err.replace("│", " ").split())
    assert path.read_text() == "a b c\n"


def test_many_sentences_keep_their_order(trained, monkeypatch):
    monkeypatch.setattr("ftor.jobs.corpora.chunks.LINES", 3)
    sentences = ["a b c d", "a", "b c", "d", "e f g", "h", "i j k"]
    assert [line["source"] for line in json_lines(run_here("predict", trained, *sentences))] == sentences


def test_structure_is_added_where_it_is_asked_for(trained):
    finished = run_here("predict", trained, "a b", "--alignment", "--fertilities", "--tree")
    (line,) = json_lines(finished)
    assert list(line) == [*FIELDS, "source_tokens", "fertilities", "tree", "alignment"]
    assert line["source_tokens"] == ["@start@", "a", "b"]
    assert sum(line["fertilities"]) == line["length"]
    assert [len(row) for row in line["alignment"]] == [line["length"]] * 3
    assert isinstance(line["tree"], str)
    (line,) = json_lines(run_here("predict", trained, "a b", "--tree"))
    assert list(line) == [*FIELDS, "source_tokens", "tree"]


def test_unknown_words_and_other_letters(trained):
    finished = run_here("predict", trained, "ünï 😀")
    assert finished.code == 0
    assert '"source": "ünï 😀"' in finished.out


def test_no_lines_are_no_predictions(trained, tmp_path):
    finished = run_here("predict", trained, stdin=b"")
    wanted = "warning: stdin: empty, so there is nothing to predict\n"
    assert (finished.code, finished.out, finished.err) == (0, "", wanted)
    path, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    path.write_bytes(b"")
    for more in ([], ["--jobs", 2], ["--resume"]):
        finished = run_here("predict", trained, "--input", path, "--output", out, *more)
        assert (finished.code, out.read_bytes()) == (0, b"")
        assert finished.err == f"warning: {path}: empty, so there is nothing to predict\n"


def test_blank_lines_at_the_end_have_records(trained, tmp_path):
    (tmp_path / "in.txt").write_bytes(b"a b\n\n\n\n")
    finished = run_here("predict", trained, "--input", tmp_path / "in.txt")
    assert finished.code == 0
    assert [record.get("error") for record in json_lines(finished)] == [None, *["an empty line"] * 3]
    assert finished.err.splitlines()[-1] == "warning: 3 of 4 lines have no output"
    assert run_here("predict", trained, stdin=b"a b\n\n\n\n").out == finished.out
    finished = run_here("predict", trained, stdin=b"\n\n")
    assert (finished.code, len(json_lines(finished))) == (1, 2)
    assert finished.err == "error: stdin:1: an empty line\nstdin:2: an empty line\n"


def test_bad_lines_have_errors_and_the_others_outputs(trained, tmp_path):
    path = write_lines(tmp_path / "in.txt", "a", "", b"\xfc", "b")
    finished = run_here("predict", trained, "--input", path)
    records = json_lines(finished)
    assert [record["source"] for record in records] == ["a", "", "ü", "b"]
    assert records[1] == {"source": "", "error": "an empty line"}
    assert all(record["prediction"] for record in (records[0], records[2], records[3]))
    assert finished.err.splitlines() == [
        f"warning: {path}:3: not UTF-8; such lines are read as Windows-1252 (Latin-1)",
        f"warning: {path}:2: an empty line",
        "warning: 1 of 4 lines have no output",
        "warning: 1 unknown word, which training did not have: ü",
        "warning: 1 of 4 sentences: the model knows less than half of the words, so the answer is a guess; "
        f"{path}:3",
    ]
    assert "stdin:1: an empty line" in run_here("predict", trained, stdin=b" \na\n").err


def test_a_line_of_3000_words_costs_only_itself(trained, tmp_path):
    path = write_lines(tmp_path / "in.txt", "a b", "a " * 3000, "b a")
    finished = run_here("predict", trained, "--input", path)
    records = json_lines(finished)
    assert "tokens is too long: at most 600 can be reordered" in records[1]["error"]
    alone = json_lines(run_here("predict", trained, "a b", "b a"))
    assert [records[0], records[2]] == alone
    assert finished.err.splitlines()[-1] == "warning: 1 of 3 lines have no output"


def test_an_empty_argument_costs_only_itself(trained):
    finished = run_here("predict", trained, "a", "", "b")
    records = json_lines(finished)
    assert (finished.code, records[1]) == (0, {"source": "", "error": "an empty line"})
    assert [records[0], records[2]] == json_lines(run_here("predict", trained, "a", "b"))
    assert finished.err == "warning: '': an empty line\nwarning: 1 of 3 lines have no output\n"


def test_lines_that_are_all_bad_are_an_error(trained, tmp_path):
    finished = run_here("predict", trained, "", " ")
    assert (finished.code, len(json_lines(finished))) == (1, 2)
    assert finished.err == "error: '': an empty line\n' ': an empty line\n"
    path = write_lines(tmp_path / "in.txt", b"\0", b"\0\0")
    finished = run_here("predict", trained, "--input", path, "--output", tmp_path / "out.jsonl")
    assert (finished.code, len((tmp_path / "out.jsonl").read_text().splitlines())) == (1, 2)
    assert finished.err == f"error: {path}:1: not a line of text\n{path}:2: not a line of text\n"


def test_several_files_follow_each_other(trained, tmp_path):
    paths = [write_lines(tmp_path / "a.txt", "a b", "c"), write_lines(tmp_path / "b.txt", "", "d")]
    finished = run_here("predict", trained, "--input", paths[0], "--input", paths[1])
    assert [record["source"] for record in json_lines(finished)] == ["a b", "c", "", "d"]
    assert f"{paths[1]}:1: an empty line" in finished.err


def test_an_output_that_was_cut_off_is_continued(trained, tmp_path, monkeypatch):
    monkeypatch.setattr("ftor.jobs.corpora.chunks.LINES", 2)
    path, out = write_lines(tmp_path / "in.txt", *"abcdefg"), tmp_path / "out.jsonl"
    options = ("predict", trained, "--input", path, "--output", out)
    run_here(*options)
    wanted = out.read_bytes()
    out.write_bytes(wanted[: len(wanted) // 2])
    assert run_here(*options, "--resume").code == 0
    assert out.read_bytes() == wanted
    finished = run_here(*options, "--resume", "--fertilities")
    assert (finished.code, out.read_bytes()) == (1, wanted)
    assert finished.err.startswith(f"error: {out}:1: not the record of this model and these options")


def test_a_column_of_a_parquet_file(trained, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"said": ["a b", None, "c"]}), tmp_path / "in.parquet")
    options = "--input", tmp_path / "in.parquet", "--column", "said"
    finished = run_here("predict", trained, *options, "--output", tmp_path / "out.parquet")
    assert finished.err.splitlines()[0] == f"warning: {tmp_path / 'in.parquet'}:2: an empty line"
    table = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    records = json_lines(run_here("predict", trained, *options))
    assert [row["prediction"] for row in table] == [record.get("prediction") for record in records]
    assert table[1]["error"] == "an empty line"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a", "--input", "x.txt"], 2, "give sentences or --input, not both"),
        (["--input", "none.txt"], 1, "none.txt: No such file or directory"),
        (["a", "--output", "no/such/folder.jsonl"], 1, "No such file or directory"),
        (["a", "--output", "no/such/folder.parquet"], 1, "No such file or directory"),
        (["a", "--resume"], 2, "only --output FILE.jsonl can be continued"),
        (
            ["--resume", "--input", "x", "--output", "x.parquet"],
            2,
            "only --output FILE.jsonl can be continued",
        ),
        (["a", "--ray", "auto"], 2, "a cluster reads files: give --input"),
        (["a", "--jobs", "0"], 2, "--jobs"),
        (["a", "--lengths", "0"], 2, "--lengths"),
        (["a", "--batch-size", "0"], 2, "--batch-size"),
    ],
)
def test_bad_usage(trained, arguments, code, message):
    finished = run_here("predict", trained, *arguments)
    assert (finished.code, finished.out) == (code, "")
    assert message in " ".join(finished.err.replace("│", " ").split())


def test_no_model(tmp_path):
    finished = run_here("predict", tmp_path / "none", "a")
    assert finished.code == 1
    assert finished.err == f"error: {tmp_path / 'none'}: not a model folder: it does not exist\n"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("run/mirror", "error: run/mirror: not a model folder: it does not exist; did you mean runs/mirror?"),
        ("runs/miror", "error: runs/miror: not a model folder: it does not exist; did you mean runs/mirror?"),
        ("runs/geo", "error: runs/geo: not a model folder: it does not exist"),
    ],
)
def test_the_model_that_was_meant_is_named(trained, tmp_path, monkeypatch, typed, message):
    shutil.copytree(trained, tmp_path / "runs" / "mirror")
    monkeypatch.chdir(tmp_path)
    finished = run_here("predict", typed, "a b")
    assert (finished.code, finished.out, finished.err) == (1, "", f"{message}\n")


def test_the_second_model_that_was_meant_is_named(trained, tmp_path, monkeypatch):
    for name in ("geo", "mirror"):
        shutil.copytree(trained, tmp_path / "runs" / name)
    monkeypatch.chdir(tmp_path)
    finished = run_here("predict", "runs/geo", "runs/miror", "a b")
    message = "error: runs/miror: not a model folder: it does not exist; did you mean runs/mirror?\n"
    assert (finished.code, finished.out, finished.err) == (1, "", message)  # as for the first model
    finished = run_here("predict", "runs/geo", "run/mirror", "a b")
    assert "'run/mirror' is read as a sentence; did you mean the model folder runs/mirror?" in finished.err


def test_a_file_is_no_sentence(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a b\n")
    finished = run_here("predict", trained, "a.txt")
    assert (finished.code, finished.out) == (2, "")
    assert "a.txt is a file: --input a.txt" in " ".join(finished.err.replace("│", " ").split())


def test_a_second_model_that_does_not_exist_is_no_sentence(trained):
    finished = run_here("predict", trained, trained.parent / "none", "a b")
    assert (finished.code, finished.out) == (1, "")
    assert finished.err.startswith(f"error: {trained.parent / 'none'}: not a model folder: it does not exist")


def test_a_word_that_is_nearly_a_model_folder_is_named(trained, tmp_path, monkeypatch):
    shutil.copytree(trained, tmp_path / "mirror-1")
    monkeypatch.chdir(tmp_path)
    finished = run_here("predict", trained, "miror-1", "a b")
    assert finished.code == 0
    assert "'miror-1' is read as a sentence; did you mean the model folder mirror-1?" in finished.err


@pytest.mark.parametrize("given", ["home/", "./home", "../here/home"])
def test_a_folder_that_was_given_was_not_meant_by_another_word(trained, tmp_path, monkeypatch, given):
    shutil.copytree(trained, tmp_path / "here" / "home")
    monkeypatch.chdir(tmp_path / "here")
    finished = run_here("predict", given, "hone")
    assert finished.code == 0
    assert "model folder" not in finished.err


def test_folders_that_may_not_be_read_are_not_looked_into(trained, tmp_path, monkeypatch):
    def refuse(self, pattern):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "glob", refuse)
    assert run_here("predict", trained, "a").code == 0
    assert "model folder" not in run_here("predict", trained, "a", "a b").err


def test_a_sentence_may_have_slashes(trained):
    (record,) = json_lines(run_here("predict", trained, "5/4/21"))
    assert record["source"] == "5/4/21"


def test_unknown_words_are_named_once(trained):
    finished = run_here("predict", trained, "a zig b", "zig zag", "a b")
    assert finished.code == 0
    assert [line.get("unknown") for line in json_lines(finished)] == [["zig"], ["zig", "zag"], None]
    assert finished.err == (
        "warning: 2 unknown words, which training did not have: zig, zag\n"
        "warning: 1 of 3 sentences: the model knows less than half of the words, so the answer is a guess; "
        "'zig zag'\n"
    )


def test_unknown_words_are_not_named_if_they_are_copied(trained, monkeypatch):
    monkeypatch.setattr(Vocabularies, "foreign", lambda *_: ("zag",))
    (record,) = json_lines(finished := run_here("predict", trained, "a zig b zag k"))
    assert record["unknown"] == ["zig", "zag"]
    assert finished.err == "warning: 1 unknown word, which training did not have: zag\n"


def test_nonsense_has_a_low_confidence(trained, tmp_path):
    model = ftor.load(trained)
    right = [(" ".join(one.source[1:]), one.text) for one in model.predict(["a b", "c d e", "f", "k j"] * 10)]
    write_pairs(right, tmp_path / "dev.tsv")
    model.calibrate(tmp_path / "dev.tsv")
    model.save(tmp_path / "sure")
    found = json_lines(run_here("predict", tmp_path / "sure", "a b", "a zig zag zog", "zig zag"))
    sure, unsure, nonsense = (record["confidence"] for record in found)
    assert sure > 0.5 > 0.25 >= unsure > nonsense == 0


def test_pairs_are_no_sentences(trained, tmp_path):
    path = write_lines(tmp_path / "pairs.tsv", "a b c\t", "a b\tb a", "k\tj")
    finished = run_here("predict", trained, "--input", path)
    assert finished.code == 0
    (warning,) = [line for line in finished.err.splitlines() if "tab" in line]
    assert warning.startswith(f"warning: {path}:2: a tab: this looks like pairs (source, tab, target)")
    assert "`cut -f1` gives the sources, and ftor evaluate takes pairs" in warning


def test_an_interrupted_run_says_how_to_finish_it(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "run")
    (tmp_path / "run" / "metrics.json").unlink()
    finished = run_here("predict", tmp_path / "run", "a b")
    assert finished.out == run_here("predict", trained, "a b").out
    assert finished.err == (
        f"warning: {tmp_path / 'run'}: its training has not finished; if it was interrupted, "
        f"`ftor train --resume {tmp_path / 'run'}` continues it\n"
    )
