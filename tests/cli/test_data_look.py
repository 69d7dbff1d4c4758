"""`ftor data look`."""

import json

import pytest

from support.tiny import run_here, write_lines

ROWS = [f"word{i} number {i}\tNUMBER {i} WORD{i}" for i in range(30)]


@pytest.fixture
def pairs(tmp_path):
    return write_lines(tmp_path / "a.tsv", *ROWS)


def test_the_page(pairs, tmp_path):
    dev = write_lines(tmp_path / "b.tsv", *ROWS[:5])
    finished = run_here("data", "look", pairs, "--dev", dev)
    assert (finished.code, finished.err) == (0, "")
    shown = " ".join(finished.out.split())
    for text in ("train: 30 pairs, dev: 5 pairs", "source tokens", "model.copying=true"):
        assert text in shown
    assert "target tokens for each source token: 1.00" in shown
    copies = "33 % written in the same way, 67 % in another case, 0 % in quotes; 33 % are numbers"
    assert f"target tokens that are words of their source: {copies}" in shown
    assert "! same-pairs: All dev pairs are training pairs." in shown
    assert f"{dev.name}: line 1, 2, 3, 4, 5 →" in shown
    assert shown.index("Warnings") < shown.index("Findings") < shown.index("Settings that follow")


def test_more_lines_than_are_named(pairs, tmp_path):
    dev = write_lines(tmp_path / "b.tsv", *ROWS[:6])
    shown = "".join(run_here("data", "look", pairs, "--dev", dev).out.split())  # long paths are broken
    assert f"{dev.name}:line1,2,3,4,5,…" in shown
    found = json.loads(run_here("data", "look", pairs, "--dev", dev, "--json").out)
    assert found["findings"][0]["more_lines"] is True


def test_json(pairs, tmp_path):
    dev = write_lines(tmp_path / "b.tsv", *ROWS[:5])
    found = json.loads(run_here("data", "look", pairs, "--test", dev, "--json").out)
    assert found["pairs"] == {"train": 30, "dev": 0, "test": 5}
    assert found["settings"]["model.copying"] is True
    assert found["findings"][0] == {
        "kind": "same-pairs",
        "text": "All test pairs are training pairs.",
        "warning": True,
        "settings": {},
        "advice": found["findings"][0]["advice"],
        "split": "test",
        "lines": [1, 2, 3, 4, 5],
        "more_lines": False,
        "left_out": 0,
    }


def test_the_end_counts_all_lines_that_are_left_out(tmp_path):
    long = f"{'a ' * 3000}\t{'b ' * 3000}"
    path = write_lines(tmp_path / "a.tsv", *ROWS, "no tab", long, long)
    end = run_here("data", "look", path).err.splitlines()[-1]
    assert end == f"warning: left out: {path}: 3 of 33 lines (1 cannot be read, 2 too long)"
    path = write_lines(tmp_path / "a.tsv", *ROWS, long)
    end = run_here("data", "look", path).err.splitlines()[-1]
    assert end == f"warning: left out: {path}: 1 of 31 lines (too long)"


def test_one_pair_is_a_warning(tmp_path):
    path = write_lines(tmp_path / "a.tsv", "a b\tc")
    (finding,) = [
        one for one in json.loads(run_here("data", "look", path, "--json").out)["findings"] if one["warning"]
    ]
    assert (finding["kind"], finding["split"], finding["lines"]) == ("size", "train", [1])
    assert "nothing can be learnt" in finding["advice"]


def test_words_in_brackets_are_shown(tmp_path):
    path = write_lines(tmp_path / "a.tsv", *["[red] dog\tx", "[red] dog\ty"] * 3)
    assert "[red] dog" in run_here("data", "look", path).out


def test_bad_lines_are_left_out(tmp_path):
    path = write_lines(tmp_path / "a.tsv", *ROWS, "no tab", *ROWS)
    finished = run_here("data", "look", path)
    assert finished.code == 0
    assert finished.err.splitlines() == [
        f"warning: {path}:31: no tab between source and target; left out",
        f"warning: left out: {path}: 1 of 61 lines",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no pairs in the file"),
        (b"a,b\nc,d\n", "1: looks like CSV; expected a tab between source and target"),
        (b"a\tb\tc\nd\te\tf\n", "1: expected two columns, source and target, found 3"),
    ],
)
def test_files_without_pairs(tmp_path, content, message):
    path = tmp_path / "a.tsv"
    path.write_bytes(content)
    finished = run_here("data", "look", path)
    assert (finished.code, finished.out) == (1, "")
    assert message in finished.err


@pytest.mark.parametrize(
    "content", [b"a b\tc\n", b"a\tb\n" * 30, "a b\tc\n".encode("utf-16"), b"\xef\xbb\xbfa\tb\r\n"]
)
def test_small_and_foreign_files_are_looked_at(tmp_path, content):
    path = tmp_path / "a.tsv"
    path.write_bytes(content)
    assert run_here("data", "look", path).code == 0
