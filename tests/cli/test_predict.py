import json

import pytest

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
    path = write_lines(tmp_path / "in.txt", "a b c", "k j", "")
    assert run_here("predict", trained, stdin=b"a b c\r\nk j").out == wanted
    assert run_here("predict", trained, "--input", path).out == wanted
    finished = run_here("predict", trained, "--input", path, "--output", tmp_path / "out.jsonl")
    assert (finished.out, (tmp_path / "out.jsonl").read_text("utf-8")) == ("", wanted)


def test_an_output_file_appears_whole_or_not_at_all(trained, tmp_path, monkeypatch):
    monkeypatch.setattr("ftor.cli.predict.LINES_AT_ONCE", 1)
    monkeypatch.setattr(
        "ftor.model.prediction.Prediction.record",
        lambda self, source, **_: {"source": source}["b" * (source == "b") or "source"],
    )
    out = write_lines(tmp_path / "out.jsonl", "old")
    with pytest.raises(KeyError):
        run_here("predict", trained, "a", "b", "--output", out)
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert out.read_text() == "old\n"


def test_many_sentences_keep_their_order(trained, monkeypatch):
    monkeypatch.setattr("ftor.cli.predict.LINES_AT_ONCE", 3)
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


def test_no_lines_are_no_predictions(trained):
    finished = run_here("predict", trained, stdin=b"")
    assert (finished.code, finished.out) == (0, "")


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


def test_an_empty_argument(trained):
    finished = run_here("predict", trained, "a", "")
    assert (finished.code, finished.out) == (1, "")
    assert finished.err == "error: '': an empty line\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a", "--input", "x.txt"], 2, "give sentences or --input, not both"),
        (["--input", "none.txt"], 1, "none.txt: No such file or directory"),
        (["a", "--output", "no/such/folder.jsonl"], 1, "No such file or directory"),
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
    assert finished.err == f"error: {tmp_path / 'none'}: not a model folder: it has no config.toml\n"


def test_unknown_words_are_named_once(trained):
    finished = run_here("predict", trained, "a zig b", "zig zag", "a b")
    assert finished.code == 0
    assert [line.get("unknown") for line in json_lines(finished)] == [["zig"], ["zig", "zag"], None]
    assert finished.err == ("warning: 2 unknown words, which training did not have: zig, zag\n")
