"""Runs over a file, cut off anywhere and continued."""

import json

import pytest

import ftor
from ftor.jobs.corpora import Request, chunks, run
from ftor.reporting import Report
from ftor.text.lines import DataError
from support.corpora import predict_file, write_corpus
from support.tiny import write_lines


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "LINES", 4)


@pytest.fixture
def corpus(tmp_path):
    return write_corpus(tmp_path / "in.txt", 30)


class Messages(Report):
    def __init__(self):
        self.warned = []

    def warn(self, text):
        self.warned.append(text)


def test_records_are_in_order_and_those_of_the_model(trained, corpus, tmp_path):
    predict_file(Request(str(trained)), corpus, tmp_path / "out.jsonl")
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    texts = corpus.read_bytes().decode("cp1252").splitlines()
    assert [record["source"] for record in records] == texts
    good = [record for record in records if "error" not in record]
    assert [record["error"] for record in records if "error" in record] == ["an empty line"] * 2
    model = ftor.load(trained)
    for record in good:
        (alone,) = model.predict([record["source"]], structure=False)  # in a batch of its own
        assert (record["tokens"], record["score"]) == (list(alone.tokens), pytest.approx(alone.score))


def test_an_output_that_was_cut_off_anywhere_is_continued_to_the_byte(trained, corpus, tmp_path):
    request, out = Request(str(trained)), tmp_path / "out.jsonl"
    wanted_tally = predict_file(request, corpus, out)
    wanted = out.read_bytes()
    ends = [place + 1 for place, byte in enumerate(wanted) if byte == ord("\n")]
    for cut in [0, 1, *(end + shift for end in ends[:-1:2] for shift in (-1, 0, 2)), len(wanted)]:
        out.write_bytes(wanted[:cut])
        tally = predict_file(request, corpus, out, resuming=True)
        assert out.read_bytes() == wanted, cut
        assert (tally.count, tally.failed) == (wanted_tally.count, wanted_tally.failed) == (30, 2)


def test_without_an_output_resuming_begins(trained, corpus, tmp_path):
    predict_file(Request(str(trained)), corpus, tmp_path / "a.jsonl")
    predict_file(Request(str(trained)), corpus, tmp_path / "b.jsonl", resuming=True)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize("kept", [2, 9])
def test_the_output_of_another_run_is_refused_and_stays(trained, corpus, run, tmp_path, kept):
    out, other = tmp_path / "out.jsonl", run("other", training__epochs=1)
    predict_file(Request(str(trained)), corpus, out)
    before = b"".join(out.read_bytes().splitlines(keepends=True)[:kept])
    for request in (Request(str(other)), Request(str(trained), tree=True)):
        out.write_bytes(before)
        with pytest.raises(DataError, match=r"out\.jsonl:1: not the record of this model and these options"):
            predict_file(request, corpus, out, resuming=True)
        assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("before", "now", "difference"),
    [
        ({}, {"n_best": 2}, "it has other values of alternatives"),
        ({}, {"tree": True}, "it has no source_tokens, tree"),
        ({"tree": True}, {"fertilities": True}, "it has no fertilities; also tree"),
    ],
)
def test_the_fields_that_other_options_change_are_named(trained, corpus, tmp_path, before, now, difference):
    out = tmp_path / "out.jsonl"
    predict_file(Request(str(trained), **before), corpus, out)
    with pytest.raises(DataError, match=rf"out\.jsonl:1: .*, so it cannot be resumed: {difference}$"):
        predict_file(Request(str(trained), **now), corpus, out, resuming=True)


def test_a_record_that_is_only_written_differently_is_refused(trained, corpus, tmp_path):
    out = tmp_path / "out.jsonl"
    predict_file(Request(str(trained)), corpus, out)
    out.write_text(out.read_text("utf-8").replace('": ', '":'), "utf-8")
    with pytest.raises(DataError, match=r"out\.jsonl:1: .*the same fields, but is written differently"):
        predict_file(Request(str(trained)), corpus, out, resuming=True)


def test_blank_lines_at_the_end_are_continued_to_the_byte(trained, tmp_path):
    path, out = write_lines(tmp_path / "in.txt", "a b", *[""] * 9), tmp_path / "out.jsonl"
    request = Request(str(trained))
    predict_file(request, path, out)
    wanted = out.read_bytes()
    records = wanted.splitlines(keepends=True)
    assert [json.loads(record).get("error") for record in records] == [None] + ["an empty line"] * 9
    for kept in range(11):
        out.write_bytes(b"".join(records[:kept]))
        tally = predict_file(request, path, out, resuming=True)
        assert (out.read_bytes(), tally.count, tally.failed) == (wanted, 10, 9), kept


def test_the_output_of_another_input_is_refused(trained, corpus, tmp_path):
    out = tmp_path / "out.jsonl"
    predict_file(Request(str(trained)), corpus, out)
    lines = corpus.read_bytes().splitlines()
    changed = write_lines(tmp_path / "b.txt", *lines[:10], b"other words", *lines[11:])
    with pytest.raises(DataError, match=r"out\.jsonl:11: the output of another input.*b\.txt:11 is 'other w"):
        predict_file(Request(str(trained)), changed, out, resuming=True)
    shorter = write_lines(tmp_path / "c.txt", *lines[:10])
    with pytest.raises(DataError, match=r"out\.jsonl:11: more records than the input has lines"):
        predict_file(Request(str(trained)), shorter, out, resuming=True)
    out.write_text('{"source": 5}\n')
    with pytest.raises(DataError, match=r"out\.jsonl:1: the output of another input.*its source is '5'"):
        predict_file(Request(str(trained)), corpus, out, resuming=True)
    out.write_text("no JSON\n" + out.read_text())
    with pytest.raises(DataError, match=r"out\.jsonl:1: not a record of `ftor predict`: b'no JSON"):
        predict_file(Request(str(trained)), corpus, out, resuming=True)


def test_an_old_output_stays_until_there_are_new_records(tmp_path, corpus):
    out = write_lines(tmp_path / "out.jsonl", "old")
    with pytest.raises(ftor.errors.FtorError, match="not a model folder"):
        predict_file(Request(str(tmp_path / "none")), corpus, out)
    assert out.read_text() == "old\n"


def test_ctrl_c_says_how_to_go_on(trained, corpus, tmp_path):
    out = tmp_path / "out.jsonl"
    predict_file(Request(str(trained)), corpus, out)
    wanted = out.read_bytes()

    def interrupted(some):
        for number, chunk in enumerate(some):
            if number == 2:
                raise KeyboardInterrupt
            yield chunk, run.Answers(wanted.decode().splitlines()[number * 4 : number * 4 + 4], [], [], [])

    with pytest.raises(ftor.errors.FtorError, match=r"stopped; --resume continues .*out\.jsonl"):
        run.predict_corpus(chunks.read_chunks([corpus], "text", Report()), interrupted, out, Report())
    assert out.read_bytes() == b"".join(wanted.splitlines(keepends=True)[:8])


def test_very_many_bad_lines_are_counted_and_named_by_their_numbers(trained, tmp_path):
    bad = ["" if number % 2 else "a" for number in range(600)]
    path, report = write_lines(tmp_path / "in.txt", *bad, "", "", "", "a"), Messages()
    predict_file(Request(str(trained)), path, tmp_path / "out.jsonl").report(report)
    assert report.warned[:5] == [f"{path}:{number}: an empty line" for number in range(2, 12, 2)]
    named = report.warned[5].removeprefix("no output either: ").split(", ")
    assert named[:2] == [f"{path}:12", f"{path}:14"]
    assert (len(named), named[-1]) == (101, "and 198 more")
    assert report.warned[6:] == ["303 of 604 lines have no output"]
    out = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert sum("error" in record for record in out) == 303


def test_lines_that_follow_each_other_are_a_range(trained, tmp_path):
    path, report = write_lines(tmp_path / "in.txt", *[""] * 9, "a"), Messages()
    predict_file(Request(str(trained)), path, tmp_path / "out.jsonl").report(report)
    assert report.warned[5] == f"no output either: {path}:6-9"


def test_a_line_that_is_never_read_whole_costs_only_itself(trained, tmp_path, monkeypatch):
    monkeypatch.setattr("ftor.text.lines.LONGEST", 500)
    path, out = write_lines(tmp_path / "in.txt", "a b", "a " * 3000, "b a"), tmp_path / "out.jsonl"
    predict_file(Request(str(trained)), path, out)
    wanted = out.read_bytes()
    records = [json.loads(line) for line in wanted.splitlines()]
    assert records[1] == {"source": "a " * 100 + "…", "error": "longer than 500 characters"}
    assert [record["source"] for record in records if "error" not in record] == ["a b", "b a"]
    out.write_bytes(wanted[:-5])
    predict_file(Request(str(trained)), path, out, resuming=True)
    assert out.read_bytes() == wanted


def test_parquet_has_the_same_records(trained, corpus, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    request = Request(str(trained), alignment=True, fertilities=True, tree=True)
    for name in ("out.jsonl", "out.parquet"):
        predict_file(request, corpus, tmp_path / name)
    wanted = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [{key: value for key, value in row.items() if value is not None} for row in rows] == [
        {key: value for key, value in record.items() if value is not None} for record in wanted
    ]
    fields = {key for record in wanted for key in record}
    assert fields <= rows[0].keys()
    assert [path.name for path in tmp_path.glob(".*")] == []
