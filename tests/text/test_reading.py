"""Reading pairs: what is read, and that every bad line is named."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.text.reading import DataError, Pair, read_pairs


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
        lines, ("no tab", "before the tab", "after the tab", "UTF-8", "found 3", "no tab"), strict=True
    ):
        assert reason in line


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file_is_refused(tmp_path, content):
    with pytest.raises(DataError, match="no pairs in the file"):
        read_pairs(write(tmp_path / "a.tsv", content))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"none.tsv: No such file"):
        read_pairs(tmp_path / "none.tsv")


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
