"""Reading pairs: what is read, and that every bad line is named."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.reporting import SILENT, Report
from ftor.text.reading import DataError, Pair, PairsFile, read_pairs


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


class Messages(Report):
    def __init__(self):
        self.warned = []

    def warn(self, text):
        self.warned.append(text)


class TestGoingOn:
    """With a report, bad lines are named and the others are read."""

    def read(self, tmp_path, content):
        report, path = Messages(), write(tmp_path / "a.tsv", content)
        file = PairsFile.read(path, report=report)
        return file, [warning.removeprefix(str(path)) for warning in report.warned]

    def test_bad_lines_are_left_out(self, tmp_path):
        file, warned = self.read(tmp_path, b"a\tb\nno tab\na\tb\tc\nlast\tgood\n")
        assert [pair.line for pair in file.pairs] == [1, 4]
        assert warned == [
            ":2: no tab between source and target; left out",
            ":3: expected two columns, source and target, found 3; left out",
        ]
        assert file.left_out == f"{file.path}: 2 of 4 lines"

    def test_a_sixth_bad_line_is_named_too(self, tmp_path):
        _, warned = self.read(tmp_path, b"a\tb\n" + b"x\n" * 6)
        assert warned[-1] == ":7: no tab between source and target; left out"

    def test_many_bad_lines_are_not_all_named(self, tmp_path):
        file, warned = self.read(tmp_path, b"a\tb\n" + b"x\n" * 20)
        assert len(warned) == 6
        assert warned[-1] == ":7 and 14 later lines: more of this kind; left out"
        assert file.left_out.endswith(": 20 of 21 lines")

    def test_empty_columns_at_the_end_are_ignored(self, tmp_path):
        file, warned = self.read(tmp_path, b"a\tb\t\t\nc\td\n")
        assert ([pair.target for pair in file.pairs], warned) == ([("b",), ("d",)], [])
        assert file.left_out == ""

    def test_latin_1_is_read(self, tmp_path):
        file, warned = self.read(tmp_path, "é\tü\n".encode() + "è\tö\n".encode("latin-1") * 2)
        assert [pair.source for pair in file.pairs] == [("é",), ("è",), ("è",)]
        assert warned == [
            ":2: not UTF-8; such lines are read as Windows-1252 (Latin-1)",
            ": 2 lines are not UTF-8",
        ]

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf_16_is_read(self, tmp_path, encoding):
        file, warned = self.read(tmp_path, "\ufeffé\tü\r\nx\ty\r\n".encode(encoding))
        assert [pair.source for pair in file.pairs] == [("é",), ("x",)]
        assert warned == [":1: the file is UTF-16, not UTF-8; it is read as such"]

    def test_line_ends_of_old_macs_are_read(self, tmp_path):
        file, warned = self.read(tmp_path, b"a\tb\rc\td\r")
        assert ([pair.source for pair in file.pairs], warned) == ([("a",), ("c",)], [])

    def test_a_spreadsheet_is_one_error(self, tmp_path):
        with pytest.raises(DataError, match=r"a\.tsv: a spreadsheet or a zip file, not text; export it"):
            self.read(tmp_path, b"PK\x03\x04\n\x00\t\xff\n")

    def test_a_file_without_tabs_is_one_error(self, tmp_path):
        with pytest.raises(DataError, match=r"a\.tsv:1: no tab in any of the 3 lines; expected one in each$"):
            self.read(tmp_path, b"a b\nc,d\ne f\n")

    @pytest.mark.parametrize(("mark", "name"), [(b",", "CSV"), (b";", "CSV with semicolons")])
    @pytest.mark.parametrize("report", [SILENT, None])
    def test_a_csv_file_is_one_error(self, tmp_path, mark, name, report):
        """Even if a cell has a tab, it is not one error for each line."""
        path = tmp_path / "a.tsv"
        path.write_bytes(b"x\ty\n" + b"a b%sc, d\n" % mark * 9)
        with pytest.raises(DataError) as error:
            PairsFile.read(path, report=report)
        assert str(error.value) == f"{path}:1: looks like {name}; expected a tab between source and target"

    @given(st.binary(max_size=200))
    def test_any_bytes_give_pairs_or_an_error(self, tmp_path_factory, content):
        folder = tmp_path_factory.mktemp("fuzz")
        try:
            file, _ = self.read(folder, content)
        except DataError as error:
            assert str(folder) in str(error)  # noqa: PT017
        else:
            assert file.pairs
            assert len(file.pairs) + len(file.problems) == file.lines
