"""Imports files of published datasets from folders and zip files into a data folder: all of them or none.

A path in an archive only selects one of the known files. It is never used as a path.
"""

import filecmp
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ftor.datasets.archives import Candidate
from ftor.datasets.published import PublishedDataset, sha256_of
from ftor.reporting import Count, Report
from ftor.text.reading import DataError


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
    sources = _sources(candidates, datasets)
    result = ImportResult(missing=[file for d in datasets for file in d.files if file not in sources])
    problems = [f"{file}: no file of this name" for file in result.missing * complete]
    size = sum(copy.size for _, copies in sources.values() for copy in copies)
    # The nearest folder that exists is on the same file system, so files can be renamed into their places.
    parent = next(parent for parent in (folder, *folder.absolute().parents) if parent.is_dir())
    with tempfile.TemporaryDirectory(dir=parent, prefix=".import-") as staging, report.loading(size) as load:
        for file, (dataset, copies) in sources.items():
            staged, target = Path(staging, file), folder / file
            try:
                if not _stage(staged, file, dataset, copies, as_published, load):
                    result.unpublished.append(file)
                if target.is_dir():
                    raise DataError(f"{target}: is a folder")
                same = target.exists() and filecmp.cmp(staged, target, shallow=False)
                if target.exists() and not same and not replace:
                    raise DataError(f"{target}: differs from {copies[0].name}; --replace overwrites it")
                (result.unchanged if same else result.written).append(file)
            except DataError as error:
                problems.append(str(error).replace(str(staged), copies[0].name))
        if problems:
            raise DataError("\n".join(problems))
        for file in result.written:
            parts = Path(staging, file).with_suffix("")
            for path in [Path(staging, file), *sorted(parts.glob("*"))]:
                target = folder / path.relative_to(staging)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, target)
    return result


def _sources(
    candidates: Iterable[Candidate], datasets: Sequence[PublishedDataset]
) -> dict[str, tuple[PublishedDataset, list[Candidate]]]:
    """The dataset of each file, and the candidates that are copies of it."""
    sources = dict[str, tuple[PublishedDataset, list[Candidate]]]()
    for candidate in candidates:
        for dataset in datasets:
            file = dataset.file_at(candidate.path)
            if file is not None:
                sources.setdefault(file, (dataset, []))[1].append(candidate)
                break
    return sources


def _stage(
    staged: Path,
    file: str,
    dataset: PublishedDataset,
    copies: Sequence[Candidate],
    as_published: bool,
    load: Count,
) -> bool:
    """Copy a file to `staged` and check it. Return whether it is as published."""
    staged.parent.mkdir(parents=True, exist_ok=True)
    names = {copy.copy_to(staged, dataset.max_bytes, load): copy.name for copy in copies}
    checksum, *others = names
    if others:
        two = f"{names[checksum]}, {names[others[0]]}"
        raise DataError(f"{file}: expected one file, found two that differ: {two}")
    if dataset.convert is not None:
        dataset.convert(staged)
        checksum = sha256_of(staged)
    published = dataset.files.get(file) or checksum
    if checksum != published and as_published:
        raise DataError(f"{copies[0].name}: expected sha256 {published}, found {checksum}")
    dataset.check(staged)
    return checksum == published
