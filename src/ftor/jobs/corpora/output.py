"""Where records go: stdout, a file of JSON lines that can be continued, or a Parquet file."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

from ftor.errors import FtorError


class Output(Protocol):
    """Receives the records of one chunk after the other, as JSON. Used in a `with` statement."""

    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None: ...

    def write(self, records: Sequence[str]) -> None:
        """Write records."""
        ...


class Stdout:
    """Prints records."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...

    def write(self, records: Sequence[str]) -> None:
        """Print a line for each record."""
        sys.stdout.writelines(f"{record}\n" for record in records)
        sys.stdout.flush()


class JsonLines:
    """A file of JSON lines. What is there already is replaced when the first records come.

    Args:
        path: the file.
        kept: how many bytes of the file are kept.
    """

    def __init__(self, path: Path, kept: int = 0) -> None:
        self._path, self._kept = path, kept
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        if not self._path.parent.is_dir():
            raise FtorError(f"{self._path}: No such file or directory")
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self.write([])  # there is a file even without records
        if self._file is not None:
            with self._file as file:
                file.flush()
                os.fsync(file.fileno())

    def write(self, records: Sequence[str]) -> None:
        """Append a line for each record."""
        try:
            if self._file is None:
                self._file = self._path.open("r+b" if self._kept else "wb")
                self._file.truncate(self._kept)
                self._file.seek(self._kept)
            self._file.write("".join(f"{record}\n" for record in records).encode())
            self._file.flush()
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self._path)) from None


class Table:
    """A Parquet file, which is complete or does not exist."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow  # an extra
        except ImportError:
            raise FtorError(f"{path}: pyarrow is not installed: pip install 'ftor[cluster]'") from None
        self._path, self._arrow = path, pyarrow
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        self._schema = _schema(pyarrow)

    def __enter__(self) -> Self:
        from pyarrow.parquet import ParquetWriter

        self._writer = ParquetWriter(self._unfinished, self._schema)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._writer.close()
        if kind is None:
            self._unfinished.replace(self._path)
        self._unfinished.unlink(missing_ok=True)

    def write(self, records: Sequence[str]) -> None:
        """Append a row for each record. What a record does not have is null."""
        rows = [json.loads(record) for record in records]
        self._writer.write_table(self._arrow.Table.from_pylist(rows, self._schema))


def _schema(arrow: Any) -> Any:
    """All fields of a record, whatever was asked for, so that all files can be read as one table."""
    text, number, flag = arrow.string(), arrow.float64(), arrow.bool_()
    alternative = {"prediction": text, "score": number, "share": number, "confidence": number}
    return arrow.schema(
        {
            "source": text,
            "prediction": text,
            "tokens": arrow.list_(text),
            "score": number,
            "confidence": number,
            "alternatives": arrow.list_(arrow.struct(alternative)),
            "length": arrow.int64(),
            "abstained": flag,
            "well_formed": flag,
            "unknown": arrow.list_(text),
            "source_tokens": arrow.list_(text),
            "fertilities": arrow.list_(arrow.int64()),
            "tree": text,
            "alignment": arrow.list_(arrow.list_(number)),
            "error": text,
        }
    )
