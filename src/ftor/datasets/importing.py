"""Imports files of published datasets from folders and zip files into a data folder: all of them or none.

A path in an archive only selects one of the known files. It is never used as a path.
"""

import filecmp
import hashlib
import io
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from ftor.datasets.published import MEGABYTE, PublishedDataset
from ftor.reporting import Count, Report
from ftor.text.reading import DataError

LARGEST_INNER_ZIP = 64 * MEGABYTE
"""Largest zip in a zip. It is read into memory."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class Candidate:
    """A file on disk or in an archive that may belong to a dataset.

    Attributes:
        name: what messages call it.
        path: the parts of its path. With a file on disk, its folders count too.
        size: number of bytes, as its archive says.
        open: opens it for reading.
    """

    name: str
    path: Sequence[str]
    size: int
    open: Callable[[], IO[bytes]]


@dataclass
class ImportResult:
    """What happened to the files of the datasets, by their paths in the data folder.

    Attributes:
        written: new files, and files that were replaced.
        unchanged: files that were there already.
        missing: files that no candidate has.
        unpublished: files whose content differs from the published one.
    """

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unpublished: list[str] = field(default_factory=list)


@contextmanager
def open_candidates(path: Path) -> Iterator[list[Candidate]]:
    """The files in a folder or a zip file, and those in zip files in it. Or the file itself."""
    with ExitStack() as archives:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
        elif path.is_file():
            files = [path]
        else:
            raise DataError(f"{path}: expected a folder or a zip file, found none")
        candidates = list[Candidate]()
        for file in files:
            if zipfile.is_zipfile(file) or (file == path and file.suffix == ".zip"):
                candidates += _members(str(file), file, archives)
            else:
                opener = partial(file.open, "rb")
                candidates.append(Candidate(str(file), file.resolve().parts, file.stat().st_size, opener))
        yield candidates


def _members(name: str, content: Path | IO[bytes], archives: ExitStack) -> Iterator[Candidate]:
    try:
        archive = archives.enter_context(zipfile.ZipFile(content))
    except _UNREADABLE as error:
        raise DataError(f"{name}: expected a zip file, found none or a damaged one: {error}") from None
    for member in archive.infolist():
        path = re.split(r"[/\\]", member.filename)
        if member.is_dir() or ".." in path:
            continue
        opener = partial(archive.open, member)
        candidate = Candidate(f"{name}/{member.filename}", path, member.file_size, opener)
        nested = isinstance(content, Path) and path[-1].endswith(".zip")
        if nested and member.file_size <= LARGEST_INNER_ZIP:
            with _unpacking(candidate), candidate.open() as file:
                inner = io.BytesIO(file.read(LARGEST_INNER_ZIP))
            yield from _members(candidate.name, inner, archives)
        else:
            yield candidate


_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What `zipfile` raises if an archive is damaged, encrypted or of an unknown kind."""


@contextmanager
def _unpacking(candidate: Candidate) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise DataError(f"{candidate.name}: cannot be unpacked: {error}") from None


def import_files(
    candidates: Iterable[Candidate],
    datasets: Sequence[PublishedDataset],
    folder: Path,
    report: Report,
    replace: bool = False,
    as_published: bool = False,
    complete: bool = False,
) -> ImportResult:
    """Check the files of the datasets among the candidates, then move them into the data folder.

    Args:
        candidates: from `open_candidates`.
        datasets: the datasets to import.
        folder: the data folder.
        report: receives the progress.
        replace: whether existing files that differ are replaced.
        as_published: whether the files must have the published checksums.
        complete: whether all files of the datasets must be there.

    Raises:
        DataError: with all problems. Nothing has been written then.
    """
    sources = dict[str, tuple[PublishedDataset, list[Candidate]]]()
    for candidate in candidates:
        for dataset in datasets:
            file = dataset.file_at(candidate.path)
            if file is not None:
                sources.setdefault(file, (dataset, []))[1].append(candidate)
                break
    result = ImportResult(missing=[file for d in datasets for file in d.files if file not in sources])
    problems = [f"{file}: expected this file, found none of that name" for file in result.missing * complete]
    size = sum(copy.size for _, copies in sources.values() for copy in copies)
    # The nearest folder that exists is on the same file system, so files can be renamed into their places.
    parent = next(parent for parent in (folder, *folder.absolute().parents) if parent.is_dir())
    with tempfile.TemporaryDirectory(dir=parent, prefix=".import-") as staging, report.loading(size) as load:
        for file, (dataset, copies) in sources.items():
            staged, target, name = Path(staging, file), folder / file, copies[0].name
            try:
                staged.parent.mkdir(parents=True, exist_ok=True)
                names = {_copy(copy, staged, dataset.max_bytes, load): copy.name for copy in copies}
                checksum, *others = names
                if others:
                    two = f"{names[checksum]}, {names[others[0]]}"
                    raise DataError(f"{file}: expected one file, found two that differ: {two}")
                published = dataset.files.get(file) or checksum
                if checksum != published and as_published:
                    raise DataError(f"{name}: expected sha256 {published}, found {checksum}")
                dataset.check(staged)
            except DataError as error:
                problems.append(str(error).replace(str(staged), name))
                continue
            if checksum != published:
                result.unpublished.append(file)
            if target.is_file() and filecmp.cmp(staged, target, shallow=False):
                result.unchanged.append(file)
            elif target.is_dir():
                problems.append(f"{target}: expected a file or nothing, found a folder")
            elif target.exists() and not replace:
                problems.append(f"{target}: differs from {name}; --replace overwrites it")
            else:
                result.written.append(file)
        if problems:
            raise DataError("\n".join(problems))
        for file in result.written:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(staging, file), folder / file)
    return result


def _copy(candidate: Candidate, path: Path, max_bytes: int, load: Count) -> str:
    """Copy a file and return its sha256. The size that an archive states is not trusted."""
    digest, size = hashlib.sha256(), 0
    with _unpacking(candidate), candidate.open() as source, path.open("wb") as file:
        while content := source.read(CHUNK):
            size += len(content)
            if size > max_bytes:
                raise DataError(f"{candidate.name}: expected at most {max_bytes // MEGABYTE} MB, found more")
            digest.update(content)
            file.write(content)
            load.advance(len(content))
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()
