"""Files in folders and zip files that may belong to a dataset."""

import hashlib
import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from ftor.datasets.published import MEGABYTE
from ftor.reporting import Count
from ftor.text.reading import DataError

LARGEST_INNER_ZIP = 64 * MEGABYTE
"""Largest zip in a zip. It is read into memory."""
CHUNK = 1 << 20
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What `zipfile` raises if an archive is damaged, encrypted or of an unknown kind."""


@dataclass(frozen=True)
class Candidate:
    """A file on disk or in an archive that may belong to a dataset.

    Attributes:
        name: what messages call it.
        path: the parts of its path. For a file on disk that is the absolute path.
        size: number of bytes, as its archive says.
        open: opens it for reading.
    """

    name: str
    path: Sequence[str]
    size: int
    open: Callable[[], IO[bytes]]

    def copy_to(self, path: Path, max_bytes: int, load: Count) -> str:
        """Copy the file and return its sha256. The size that its archive states is not trusted."""
        digest, size = hashlib.sha256(), 0
        with self.unpacking(), self.open() as source, path.open("wb") as file:
            while content := source.read(CHUNK):
                size += len(content)
                if size > max_bytes:
                    raise DataError(f"{self.name}: larger than {max_bytes // MEGABYTE} MB")
                digest.update(content)
                file.write(content)
                load.advance(len(content))
            file.flush()
            os.fsync(file.fileno())
        return digest.hexdigest()

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """Raise a `DataError` if the file cannot be unpacked."""
        try:
            yield
        except _UNREADABLE as error:
            raise DataError(f"{self.name}: cannot be unpacked: {error}") from None


@contextmanager
def open_candidates(path: Path) -> Iterator[list[Candidate]]:
    """The files in a folder or a zip file, and those in zip files in it. Or the file itself."""
    with ExitStack() as archives:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
        elif path.is_file():
            files = [path]
        else:
            raise DataError(f"{path}: no such file or folder")
        candidates = list[Candidate]()
        for file in files:
            if zipfile.is_zipfile(file) or (file == path and file.suffix == ".zip"):
                candidates += _members(str(file), file, archives)
            else:
                opener = partial(io.FileIO, file)
                candidates.append(Candidate(str(file), file.resolve().parts, file.stat().st_size, opener))
        yield candidates


def _members(name: str, content: Path | IO[bytes], archives: ExitStack) -> Iterator[Candidate]:
    try:
        archive = archives.enter_context(zipfile.ZipFile(content))
    except _UNREADABLE as error:
        raise DataError(f"{name}: not a zip file, or a damaged one: {error}") from None
    for member in archive.infolist():
        path = re.split(r"[/\\]", member.filename)
        if member.is_dir() or ".." in path:
            continue
        opener = partial(archive.open, member)
        candidate = Candidate(f"{name}/{member.filename}", path, member.file_size, opener)
        nested = isinstance(content, Path) and path[-1].endswith(".zip")
        if nested and member.file_size <= LARGEST_INNER_ZIP:
            with candidate.unpacking(), candidate.open() as file:
                inner = io.BytesIO(file.read(LARGEST_INNER_ZIP))
            yield from _members(candidate.name, inner, archives)
        else:
            yield candidate
