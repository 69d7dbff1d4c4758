"""Reading pairs: what is read, and that every bad line is named."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.errors import FtorError
from ftor.text import reading
from ftor.text.reading import DataError, Pair, find_file, read_pairs, tokenize


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_pairs_are_split_at_any_white_space(tmp_path):
    path = write(tmp_path / "a.tsv", "a  b\tc d \n é\tü\n".encode())
    assert read_pairs(path) == [Pair(("a", "b"), ("c", "d"), 1), Pair(("é",), ("ü",), 2)]


@pytest.mark.parametrize(
    "ending", [b"\n", b"\r\n", b"", b"\n\n \n"], ids=["lf", "crlf", "none", "blank lines"]
)
def test_endings_and_byte_order_marks_do_not_matter(tmp_path, ending):
    path = write(tmp_path / "a.tsv", b"\xef\xbb\xbfa\tb" + ending)
    assert read_pairs(path) == [Pair(("a",), ("b",), 1)]


def test_every_bad_line_is_named(tmp_path):
    path = write(tmp_path / "a.tsv", b"a\tb\nno tab\n\tempty\nempty\t\n\xff\xfe\tx\na\tb\tc\n\nlast\tgood\n")
    with pytest.raises(DataError) as error:
        read_pairs(path)
    lines = str(error.value).split("\n")
    assert [line.removeprefix(f"{path}:").split(":")[0] for line in lines] == ["2", "3", "4", "5", "6", "7"]
    for line, reason in zip(
        lines, ("no tab", "before the tab", "after the tab", "UTF-8", "3 columns", "no tab"), strict=True
    ):
        assert reason in line


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file_is_refused(tmp_path, content):
    with pytest.raises(DataError, match="found an empty file"):
        read_pairs(write(tmp_path / "a.tsv", content))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"none.tsv: No such file"):
        read_pairs(tmp_path / "none.tsv")


def test_folders_are_searched_in_order(tmp_path, monkeypatch):
    names = ["chosen", "environment", "cache/ftor", "work/data"]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
        write(tmp_path / name / "a.tsv", b"a\tb")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert find_file("a.tsv", tmp_path / "chosen") == tmp_path / "chosen/a.tsv"
    assert find_file("b.tsv", tmp_path / "chosen") is None
    monkeypatch.setenv("FTOR_DATA", str(tmp_path / "environment"))
    assert find_file("a.tsv", None) == tmp_path / "environment/a.tsv"
    monkeypatch.delenv("FTOR_DATA")
    assert find_file("a.tsv", None) == Path("data/a.tsv")
    Path("data/a.tsv").unlink()
    assert find_file("a.tsv", None) == tmp_path / "cache/ftor/a.tsv"


def test_english_is_split_by_spacys_rules(tmp_path):
    pytest.importorskip("spacy")
    path = write(tmp_path / "a.tsv", b"i'd  like a 5pm flight\tFILTER file.name eq all-day \n")
    (pair,) = read_pairs(path, "english", "english")
    assert pair.source == ("i", "'d", "like", "a", "5", "pm", "flight")
    assert pair.target == ("FILTER", "file.name", "eq", "all", "-", "day")
    (mixed,) = read_pairs(path, "english", "whitespace")
    assert mixed.target == ("FILTER", "file.name", "eq", "all-day")


def test_without_spacy_the_extra_is_named(monkeypatch):
    reading._english.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(FtorError, match=r"pip install 'ftor\[text\]'"):
        tokenize("a b", "english")


@given(st.binary(max_size=200) | st.text(alphabet="ab\t\n\r é\x00\u2028", max_size=60).map(str.encode))
def test_any_bytes_give_pairs_or_the_lines_that_are_wrong(tmp_path_factory, content):
    path = write(tmp_path_factory.mktemp("fuzz") / "a.tsv", content)
    problems, pairs = "", []
    try:
        pairs = read_pairs(path)
    except DataError as error:
        problems = str(error)
    assert bool(pairs) != bool(problems)
    assert all(line.startswith(f"{path}:") for line in problems.splitlines())
    assert all(pair.source and pair.target for pair in pairs)
