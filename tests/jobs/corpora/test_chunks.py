import pytest

from ftor.jobs.corpora import chunks
from ftor.jobs.corpora.chunks import given_chunks, input_size, read_chunks, require_spans
from ftor.reporting import SILENT, Report
from ftor.text.lines import DataError
from support.corpora import write_corpus

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


class Messages(Report):
    def __init__(self):
        self.warned = []

    def warn(self, text):
        self.warned.append(text)


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "LINES", 4)


def test_given_lines():
    found = list(given_chunks(list("abcdef")))
    assert [chunk.texts for chunk in found] == [tuple("abcd"), tuple("ef")]
    assert [chunk.first for chunk in found] == [1, 5]
    assert found[1].place(1, "f") == "'f'"


def test_the_chunks_of_text_files_can_be_read_by_their_spans(tmp_path):
    paths = [write_corpus(tmp_path / f"{name}.txt", 30, seed) for seed, name in enumerate("ab")]
    paths[1].write_bytes(b"\xef\xbb\xbf" + paths[1].read_bytes() + b"\n\n")
    found = list(read_chunks(paths, "text", SILENT))
    assert [len(chunk.texts) for chunk in found] == [4] * 7 + [2] + [4] * 8
    assert [chunk.first for chunk in found] == [*range(1, 30, 4)] * 2
    assert all(chunk.span.read() == list(chunk.texts) for chunk in found)
    assert sum(chunk.size for chunk in found) == input_size(paths)
    assert found[-1].place(1, "x") == f"{paths[1]}:30"
    require_spans(paths)


def test_the_chunks_of_parquet_files_can_be_read_by_their_spans(tmp_path):
    texts = [f"a {number}" if number % 7 else None for number in range(30)]
    table = pyarrow.table({"number": range(30), "sentence": texts})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=11)
    found = list(read_chunks([tmp_path / "a.parquet"], "sentence", SILENT))
    assert [text for chunk in found for text in chunk.texts] == [text or "" for text in texts]
    assert [len(chunk.texts) for chunk in found] == [4, 4, 3, 4, 4, 3, 4, 4]
    assert all(chunk.span.read() == list(chunk.texts) for chunk in found)
    size = (tmp_path / "a.parquet").stat().st_size
    assert input_size([tmp_path / "a.parquet"]) == size
    assert sum(chunk.size for chunk in found) == pytest.approx(size, abs=len(found))
    assert found[1].place(0, "x") == f"{tmp_path / 'a.parquet'}:5"


def test_empty_files_are_named(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "b.txt").write_bytes(b"\n")
    parquet.write_table(pyarrow.table({"text": pyarrow.array([], "string")}), tmp_path / "c.parquet")
    paths, report = [tmp_path / name for name in ("a.txt", "b.txt", "c.parquet")], Messages()
    assert [chunk.texts for chunk in read_chunks(paths, "text", report)] == [("",)]
    assert report.warned == [f"{path}: empty, so there is nothing to predict" for path in paths[::2]]


def test_bad_parquet_files_are_refused(tmp_path):
    parquet.write_table(pyarrow.table({"a": ["x"], "b": ["y"]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: no column text; its columns are a, b \(--column\)"):
        list(read_chunks([tmp_path / "a.parquet"], "text", SILENT))
    (tmp_path / "b.parquet").write_text("text\n")
    with pytest.raises(DataError, match=r"b\.parquet: not a Parquet file"):
        list(read_chunks([tmp_path / "b.parquet"], "text", SILENT))


@pytest.mark.parametrize("content", ["a\nb".encode("utf-16"), b"a\rb"])
def test_a_text_without_spans_is_refused(tmp_path, content):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.txt: a cluster reads UTF-8 with line ends of Unix or Windows"):
        require_spans([tmp_path / "a.txt"])
