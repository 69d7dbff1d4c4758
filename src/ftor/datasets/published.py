"""What is known about a published dataset: its files, where to download them, how outputs are judged."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from ftor.metrics import Grouping, Judge, Scorer
from ftor.reporting import Report
from ftor.text.reading import read_pairs

MEGABYTE = 10**6


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Download:
    """The public address of an archive or a file, and its sha256 if that is known."""

    url: str
    sha256: str | None = None


RELEASE = "https://raw.githubusercontent.com/namednil/f-then-r/29cacfee753132f80ed334712efc2cfbfa44e539"
RELEASED_DATA = Download(f"{RELEASE}/data.zip")
"""The data of the research release. Its authors publish no checksum, so each file in it is checked."""


def sha256sums(lines: str) -> dict[str, str | None]:
    """Files and their checksums, from lines in the format of `sha256sum`."""
    pairs = (line.split(maxsplit=1) for line in lines.strip().splitlines())
    return {file: checksum for checksum, file in pairs}


@dataclass(frozen=True)
class PublishedDataset:
    """A published dataset.

    Attributes:
        name: its name on the command line. If it has pairs, it is also the `data.task` of its experiments.
        files: the path of each file in a data folder, and its sha256 if that is known.
        downloads: addresses that together have all files.
        extra_files: a pattern. Files with such names are imported too.
        other_names: names under which other releases have the files, also with folders and `*`.
        convert: makes pairs of a file in the notation of its public home, in place, and leaves pairs as they
            are. It may write more files into a folder with the file's name. Checksums are those of the pairs.
        check: raises a `DataError` if a file is not usable.
        max_bytes: no file is larger. An archive that unpacks to more is damaged or malicious.
        judges: gives the accuracies of the task, given the user's data folder. The first selects models.
        scorers: gives the scores of all outputs together. The report receives what cannot be computed.
        judged_with: further files that the judges read.
        groupings: what examples are grouped by, besides their length.
        generate: makes the pairs of each split, for users who do not have the files.
    """

    name: str
    files: Mapping[str, str | None]
    downloads: tuple[Download, ...]
    extra_files: str | None = None
    other_names: Mapping[str, str] = field(default_factory=dict)
    convert: Callable[[Path], object] | None = None
    check: Callable[[Path], object] = read_pairs
    max_bytes: int = 32 * MEGABYTE
    judges: Callable[[Path | None], tuple[Judge, ...]] = lambda data_folder: ()
    scorers: Callable[[Report | None], tuple[Scorer, ...]] = lambda report: ()
    judged_with: tuple[str, ...] = ()
    groupings: tuple[Grouping, ...] = ()
    generate: Callable[[], dict[str, list[tuple[str, str]]]] | None = None

    @property
    def has_pairs(self) -> bool:
        """Whether it can be learned. Others are facts, word vectors or an encoder."""
        return any(file.endswith(".tsv") for file in self.files)

    def file_at(self, path: Sequence[str]) -> str | None:
        """The path in a data folder of a file that has the given path elsewhere. None if it is not ours."""
        location = "/" + "/".join(path)
        for file in self.files:
            others = [name for name, meant in self.other_names.items() if meant == file]
            if location.endswith(f"/{file}") or any(fnmatchcase(location, f"*/{name}") for name in others):
                return file
        return path[-1] if self._is_extra(path[-1]) else None

    def extra_files_in(self, folder: Path) -> list[Path]:
        """The files in a data folder that match `extra_files`, without those in `files`."""
        if self.extra_files is None or not folder.is_dir():
            return []
        extra = (path for path in folder.iterdir() if self._is_extra(path.name) and path.is_file())
        return sorted(path for path in extra if path.name not in self.files)

    def _is_extra(self, name: str) -> bool:
        return self.extra_files is not None and re.fullmatch(self.extra_files, name) is not None
