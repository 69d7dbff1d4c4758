"""Input in chunks of lines: from text files, Parquet files, a stream, or as given."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ftor.errors import FtorError
from ftor.reporting import Report
from ftor.text.lines import DataError, Line, is_of_old_mac, is_utf_16, lines_between, stream_lines

LINES = 256
"""Lines of a chunk. Batches are made within it, so that every run gives a line the same score to the bit."""


@dataclass(frozen=True)
class Span:
    """Where the lines of a chunk are, for another process to read them.

    Attributes:
        path: the file.
        start, end: the first byte, and that after the last one. Of a Parquet file these are rows.
        column: the column of a Parquet file. None for a text file.
    """

    path: str
    start: int
    end: int
    column: str | None = None

    def read(self) -> list[str]:
        """The lines."""
        if self.column is not None:
            return _rows(self.path, self.column, self.start, self.end)
        with Path(self.path).open("rb") as file:
            return lines_between(file, self.start, self.end)


@dataclass(frozen=True)
class Chunk:
    """Some lines of the input that follow each other.

    Attributes:
        name: of their file, for messages. None for lines that were given as such.
        first: the number of the first line in its file, counted from 1.
        texts: the lines.
        size: how much of the input they are, in bytes.
        span: where they are. None if they are not in a file.
    """

    name: str | None
    first: int
    texts: tuple[str, ...]
    size: int
    span: Span | None = None

    def place(self, row: int, text: str) -> str:
        """How to name a line of the chunk in a message."""
        return repr(text) if self.name is None else f"{self.name}:{self.first + row}"


def given_chunks(texts: Sequence[str]) -> Iterator[Chunk]:
    """Chunks of lines that were given as such."""
    for first in range(0, len(texts), LINES):
        some = tuple(texts[first : first + LINES])
        yield Chunk(None, first + 1, some, sum(map(len, some)))


def stream_chunks(file: BinaryIO, name: str, report: Report, path: str | None = None) -> Iterator[Chunk]:
    """Chunks of the lines of a stream. `path` is that of the file, if it is one."""
    lines, start, warned = stream_lines(file, name, report), 0, False
    while some := list[Line](islice(lines, LINES)):
        end = some[-1].end
        if not warned:
            warned = _warn_of_tab(some, name, report)
        span = None if path is None else Span(path, start, end)
        yield Chunk(name, some[0].number, tuple(line.text for line in some), end - start, span)
        start = end
    if not start:
        _warn_of_none(name, report)


def read_chunks(paths: Iterable[Path], column: str, report: Report) -> Iterator[Chunk]:
    """Chunks of the lines of text files and of the rows of Parquet files.

    Args:
        paths: the files. Those that end in .parquet are Parquet files.
        column: that of the sentences in Parquet files.
        report: receives what is odd about text files, and which files are empty.
    """
    for path in paths:
        if is_parquet(path):
            yield from _table_chunks(path, column, report)
        else:
            with path.open("rb") as file:
                yield from stream_chunks(file, str(path), report, str(path.absolute()))


def input_size(paths: Iterable[Path]) -> int:
    """The sizes of the chunks of files in all, or nearly."""
    return sum(path.stat().st_size for path in paths)


def require_spans(paths: Iterable[Path]) -> None:
    """Raise if parts of a text file cannot be read by themselves."""
    for path in paths:
        if not is_parquet(path):
            with path.open("rb") as file:
                head = file.read(1 << 16)
            if is_utf_16(head) or is_of_old_mac(head):
                raise DataError(f"{path}: a cluster reads UTF-8 with line ends of Unix or Windows only")


def is_parquet(path: Path) -> bool:
    """Whether the name of a file says that it is a Parquet file."""
    return path.suffix.lower() == ".parquet"


def _table_chunks(path: Path, column: str, report: Report) -> Iterator[Chunk]:
    file = _parquet(path)
    if column not in file.schema_arrow.names:
        found = ", ".join(file.schema_arrow.names)
        raise DataError(f"{path}: no column {column}; its columns are {found} (--column)")
    start, per_row = 0, path.stat().st_size / max(file.metadata.num_rows, 1)
    for texts in _batches(file, column, range(file.metadata.num_row_groups)):
        span = Span(str(path.absolute()), start, start + len(texts), column)
        yield Chunk(str(path), start + 1, tuple(texts), round(per_row * len(texts)), span)
        start += len(texts)
    if not start:
        _warn_of_none(str(path), report)


def _warn_of_tab(lines: Iterable[Line], name: str, report: Report) -> bool:
    """Warn of the first line with a tab between words, and say whether there is one."""
    line = next((line for line in lines if "\t" in line.text.strip()), None)
    if line is not None:
        report.warn(
            f"{name}:{line.number}: a tab: this looks like pairs (source, tab, target), but all words of a "
            "line are read as one sentence; `cut -f1` gives the sources, and ftor evaluate takes pairs"
        )
    return line is not None


def _warn_of_none(name: str, report: Report) -> None:
    report.warn(f"{name}: empty, so there is nothing to predict")


def _rows(path: str, column: str, start: int, end: int) -> list[str]:
    """The texts of rows that `_table_chunks` has put together, without reading all rows before them."""
    file, first = _parquet(Path(path)), 0
    for group in range(file.metadata.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if first + rows > start:
            batches = _batches(file, column, [group])
            return next(islice(batches, (start - first) // LINES, None))
        first += rows
    raise DataError(f"{path}: rows {start + 1} to {end} are gone; the file has changed")


def _batches(file: Any, column: str, groups: Iterable[int]) -> Iterator[list[str]]:
    """The texts of row groups, `LINES` at a time and none of two groups. A missing text is empty."""
    for group in groups:
        for batch in file.iter_batches(LINES, row_groups=[group], columns=[column]):
            yield ["" if value is None else str(value) for value in batch.column(0).to_pylist()]


def _parquet(path: Path) -> Any:
    """Open a Parquet file."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile  # an extra
    except ImportError:
        raise FtorError(f"{path}: pyarrow is not installed: pip install 'ftor[cluster]'") from None
    try:
        return ParquetFile(path)
    except pyarrow.ArrowInvalid as error:
        raise DataError(f"{path}: not a Parquet file: {error}") from None
