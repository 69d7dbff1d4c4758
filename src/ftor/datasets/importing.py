"""Brings the known datasets from a folder or a zip into a data folder: all that is found, or nothing.

Names in an archive only choose among the known places; none of them becomes a path, so none can lead astray.
"""

import hashlib
import io
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ftor.datasets.geo import facts
from ftor.datasets.sources import DATASETS, OTHER_NAMES, Dataset, published
from ftor.files import write_atomically
from ftor.reporting import Load, Report
from ftor.text.reading import DataError, read_pairs

MEGABYTE = 10**6
LARGEST_TEXT = 32 * MEGABYTE
"""No published TSV has a megabyte; an archive that unpacks to more than this is broken, or means harm."""
LARGEST_VECTORS = 8000 * MEGABYTE
"""The largest GloVe file that is published has 5.6 GB."""
LARGEST_INNER_ZIP = 64 * MEGABYTE
"""Of a zip within a zip, which is held in memory."""
CHUNK = 1 << 20


@dataclass(frozen=True)
class Item:
    """A file that might be one of a dataset's."""

    name: str
    parts: tuple[str, ...]
    size: int
    open: Callable[[], IO[bytes]]

    @classmethod
    def of_file(cls, path: Path, name: str | None = None, parts: tuple[str, ...] | None = None) -> "Item":
        """A file on disk; its folders count, so that a dataset's own folder can be given too."""
        return cls(
            name or str(path), parts or path.resolve().parts, path.stat().st_size, lambda: path.open("rb")
        )


@dataclass
class Imported:
    """What became of the files of the datasets, by their places in the data folder."""

    written: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    """Those that differ from the published ones."""


@contextmanager
def look_into(*paths: Path) -> Iterator[list[Item]]:
    """The files in folders, in zips, and in zips in these; or the files themselves."""
    with ExitStack() as stack:
        items: list[Item] = []
        for path in paths:
            if path.is_dir():
                for folder, _, names in os.walk(path):
                    for file in (Path(folder, name) for name in sorted(names)):
                        if zipfile.is_zipfile(file):
                            items += _members(str(file), file, stack)
                        elif file.is_file():  # no dangling link, no socket
                            items.append(Item.of_file(file))
            elif zipfile.is_zipfile(path) or path.suffix == ".zip":
                items += _members(str(path), path, stack)
            elif path.is_file():
                items.append(Item.of_file(path))
            else:
                raise DataError(f"{path}: expected a folder or a zip file, found none")
        yield items


def _members(name: str, content: Path | IO[bytes], stack: ExitStack) -> Iterator[Item]:
    """The files in a zip, and those in zips in it."""
    try:
        archive = stack.enter_context(zipfile.ZipFile(content))
    except _UNREADABLE as error:
        raise DataError(f"{name}: expected a zip file, found none or a damaged one: {error}") from None
    for member in archive.infolist():
        parts = tuple(re.split(r"[/\\]", member.filename))
        if member.is_dir() or ".." in parts:
            continue
        item = Item(f"{name}/{member.filename}", parts, member.file_size, _opener(archive, member))
        nested = isinstance(content, Path) and parts[-1].endswith(".zip")
        if nested and member.file_size <= LARGEST_INNER_ZIP:
            with _reading(item), item.open() as file:
                inner = io.BytesIO(file.read(LARGEST_INNER_ZIP))
            yield from _members(item.name, inner, stack)
        else:
            yield item


_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What reading a zip raises if it is damaged, encrypted or of an unknown kind."""


def _opener(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(member)


def place_of(parts: Sequence[str], datasets: Iterable[Dataset]) -> str | None:
    """The place in a data folder of a file with this path, or None if it is none of the datasets'."""
    path = "/" + "/".join(parts)
    for dataset in datasets:
        for file in dataset.files:
            if path.endswith(f"/{file}") or OTHER_NAMES.get(parts[-1]) == file:
                return file
        if dataset.further is not None and re.fullmatch(dataset.further, parts[-1]):
            return parts[-1]
    return None


def bring(
    items: Iterable[Item],
    folder: Path,
    report: Report,
    datasets: Iterable[Dataset] = tuple(DATASETS.values()),
    replace: bool = False,
    as_published: bool = False,
    complete: bool = False,
) -> Imported:
    """Check the files of the datasets among `items`, then put them into the data folder.

    Args:
        items: what there is, from `look_into`.
        folder: the data folder.
        report: shows how far it is.
        datasets: those wanted.
        replace: whether files may be overwritten by ones that differ.
        as_published: whether files must have the checksum of the published ones.
        complete: whether all files of the datasets must be there.

    Raises:
        DataError: with everything that is wrong; nothing has been written then.
    """
    datasets = tuple(datasets)
    found = dict[str, list[Item]]()
    for item in items:
        place = place_of(item.parts, datasets)
        if place is not None:
            found.setdefault(place, []).append(item)
    with tempfile.TemporaryDirectory() as staging, report.loading(_bytes(found)) as load:
        checked, problems = dict[str, Item](), list[str]()
        result = Imported(
            missing=[file for dataset in datasets for file in dataset.files if file not in found]
        )
        for place, candidates in found.items():
            try:
                checked[place] = _check(place, candidates, Path(staging), result, as_published, load)
            except DataError as error:
                problems.append(str(error))
        if complete:
            problems += [f"{file}: expected this file, found none of that name" for file in result.missing]
        if not problems:
            problems = _conflicts(checked, folder, result, replace)
        if problems:
            raise DataError("\n".join(problems))
        for place in result.written:
            target = folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, _writer(checked[place], _limit(place), load))
    return result


def _bytes(found: dict[str, list[Item]]) -> int:
    """How much is to be read: texts once to be checked and once to be written."""
    return sum(
        sum(item.size for item in items) * is_text(place) + items[0].size for place, items in found.items()
    )


def is_text(place: str) -> bool:
    """Whether it is small, and checked as a whole before anything is written."""
    return place.endswith((".tsv", ".pl"))


def _limit(place: str) -> int:
    return LARGEST_TEXT if is_text(place) else LARGEST_VECTORS


def _check(
    place: str, candidates: list[Item], staging: Path, result: Imported, as_published: bool, load: Load
) -> Item:
    """The item for a place, on disk if it is a text, after a look at its content."""
    first, limit = candidates[0], _limit(place)
    for item in candidates:
        if item.size > limit:
            raise _too_large(item, limit)
    if not is_text(place):
        for other in candidates[1:]:
            if other.size != first.size:
                raise DataError(
                    f"{place}: expected one file, found two that differ: {first.name}, {other.name}"
                )
        _check_vectors(first)
        return first
    copies = []
    for number, item in enumerate(candidates):
        copy = staging / str(number) / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        _writer(item, limit, load)(copy)
        copies.append(copy.read_bytes())
        if copies[-1] != copies[0]:
            raise DataError(f"{place}: expected one file, found two that differ: {first.name}, {item.name}")
    checksum, expected = hashlib.sha256(copies[0]).hexdigest(), published().get(place)
    if expected is not None and checksum != expected:
        if as_published:
            raise DataError(f"{first.name}: expected sha256 {expected}, found {checksum}")
        result.other.append(place)
    staged = staging / "0" / place
    try:
        (read_pairs if place.endswith(".tsv") else facts.read)(staged)
    except DataError as error:
        raise DataError(str(error).replace(str(staged), first.name)) from None
    return Item.of_file(staged, first.name)


def _check_vectors(item: Item) -> None:
    """That the first line is a word and its vector; there are too many to look at them all."""
    with _reading(item), item.open() as file:
        line = file.readline(CHUNK)
    try:
        _, *numbers = line.decode("utf-8").split()
        vector = [float(number) for number in numbers]
    except ValueError:
        vector = []
    if not vector:
        raise DataError(f"{item.name}:1: expected a word and its vector, found {line[:40]!r}")


def _conflicts(checked: dict[str, Item], folder: Path, result: Imported, replace: bool) -> list[str]:
    """Decide what is to be written; the existing files that stand in the way."""
    problems = []
    for place, item in checked.items():
        target = folder / place
        if not target.exists():
            result.written.append(place)
        elif target.is_file() and _same(item, target):
            result.same.append(place)
        elif replace and target.is_file():
            result.written.append(place)
        elif target.is_file():
            problems.append(f"{target}: differs from {item.name}; --replace overwrites it")
        else:
            problems.append(f"{target}: expected a file or nothing, found a folder")
    return problems


def _same(item: Item, path: Path) -> bool:
    if item.size != path.stat().st_size:
        return False
    with _reading(item), item.open() as one, path.open("rb") as other:
        while content := one.read(CHUNK):
            if content != other.read(len(content)):
                return False
    return True


def _writer(item: Item, limit: int, load: Load) -> Callable[[Path], None]:
    """Copies an item to a path, at most `limit` bytes of it: an archive's word for a size is not trusted."""

    def write(path: Path) -> None:
        done = 0
        with _reading(item), item.open() as source, path.open("wb") as file:
            while content := source.read(CHUNK):
                done += len(content)
                if done > limit:
                    raise _too_large(item, limit)
                file.write(content)
                load.advance(len(content))

    return write


def _too_large(item: Item, limit: int) -> DataError:
    return DataError(f"{item.name}: expected at most {limit // MEGABYTE} MB, found more")


@contextmanager
def _reading(item: Item) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise DataError(f"{item.name}: cannot be unpacked: {error}") from None
