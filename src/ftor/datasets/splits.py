"""The training, dev and test pairs of an experiment: finding, generating, reading and holding out."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ftor.config import Config, ConfigError
from ftor.datasets import DATASETS, TASKS
from ftor.datasets.folders import data_folders, find_file, is_in_hub_cache, missing
from ftor.datasets.glove import find_vectors
from ftor.reporting import Report
from ftor.text.reading import DataError, Pair, PairsFile, write_pairs

HELD_OUT = 10
"""Every tenth training pair is dev where there is no dev file."""


@dataclass(frozen=True)
class Splits:
    """The pairs of an experiment, as they are in its files.

    Attributes:
        train: pairs of the training file.
        dev: pairs of the dev file, None without one.
        test: pairs of the test file, empty without one.
        paths: the file of each split.
        data_folder: the data folder that the user named, if any.
        left_out: for each file with bad lines, how many are left out.
    """

    train: list[Pair]
    dev: list[Pair] | None
    test: list[Pair]
    paths: dict[str, Path]
    data_folder: Path | None = None
    left_out: tuple[str, ...] = ()


def load_splits(config: Config, data_folder: Path | None, run_folder: Path, report: Report) -> Splits:
    """Find or generate the files of an experiment, and read them.

    Args:
        config: names the files and the task.
        data_folder: the data folder, if the user named one.
        run_folder: the folder of the run. Files are looked for in it first. Generated pairs are written to
            its folder `data`.
        report: receives where the pairs come from, and bad lines of own files, which are left out.

    Raises:
        DataError: if a file is missing or has no pairs, or with every bad line of files of a published
            dataset.
    """
    paths = _find(config, data_folder, run_folder, report)
    data = config.data
    problems, files = [], dict[str, PairsFile]()
    go_on = None if data.task in DATASETS else report  # a published file with bad lines is damaged
    for split, path in paths.items():
        try:
            files[split] = PairsFile.read(
                path, data.source_tokenizer, data.target_tokenizer, data.emphasis, go_on
            )
        except DataError as error:
            problems.append(str(error))
    if problems:
        raise DataError("\n".join(problems))
    left_out = tuple(file.left_out for file in files.values() if file.problems)
    pairs = {split: file.pairs for split, file in files.items()}
    return Splits(pairs["train"], pairs.get("dev"), pairs.get("test", []), paths, data_folder, left_out)


def hold_out(pairs: list[Pair], report: Report) -> tuple[list[Pair], list[Pair]]:
    """Split training pairs into training and dev pairs. Of too few, all are both."""
    if len(pairs) < HELD_OUT:
        report.warn(f"no dev file: the best epoch is chosen on the {len(pairs)} training pairs themselves")
        return pairs, pairs
    dev = pairs[HELD_OUT - 1 :: HELD_OUT]
    report.say(f"no dev file: every {HELD_OUT}th training pair is held out ({len(dev)} of {len(pairs)})")
    return [pair for number, pair in enumerate(pairs, 1) if number % HELD_OUT], dev


def files_of(config: Config) -> list[str]:
    """The files that an experiment names, those that its outputs are judged with, and those of its reader."""
    data = config.data
    judged_with = DATASETS[data.task].judged_with if data.task in DATASETS else ()
    named = [name for name in (data.train, data.dev, data.test, data.vectors) if name is not None]
    return [*named, *judged_with, *_files_of_reader(config)]


def _files_of_reader(config: Config) -> list[str]:
    """The files of the pretrained encoder that an experiment reads, if it is a published dataset."""
    folder = f"{config.model.pretrained_reader}/"
    return [file for dataset in DATASETS.values() for file in dataset.files if file.startswith(folder)]


def missing_files(config: Config, data_folder: Path | None) -> list[str]:
    """The files of an experiment that are in no data folder, without those that can be generated."""
    data = config.data
    data_folders(data_folder)  # raises if there is no such folder
    if data.train is None:
        raise DataError(f"{config.name}: data.train: no TSV file")
    reader = config.model.pretrained_reader
    not_needed = [data.train, data.dev, data.test] if _generator(data.task) else []  # they are generated
    if reader is not None and is_in_hub_cache(reader):
        not_needed += _files_of_reader(config)
    return [
        name
        for name in files_of(config)
        if name not in not_needed
        and not (find_vectors(name, data_folder) if name == data.vectors else _found(name, data_folder))
    ]


def require_files(config: Config, data_folder: Path | None) -> None:
    """Raise a `DataError` if a file of the experiment is missing. Called before many runs begin."""
    for name in missing_files(config, data_folder):
        raise DataError(f"{config.name}: {missing(name, data_folder)}{_hint([name])}")


def _find(config: Config, data_folder: Path | None, run_folder: Path, report: Report) -> dict[str, Path]:
    if config.data.task not in TASKS:
        raise ConfigError(f"data.task: expected {', '.join(TASKS)}, found {config.data.task!r}")
    names = {split: getattr(config.data, split) for split in ("train", "dev", "test")}
    names = {split: name for split, name in names.items() if name is not None}
    if "train" not in names:
        raise DataError("data.train: no TSV file; give one with --train FILE")
    generated = run_folder / "data"
    files = {
        split: _own_file(generated / name)
        or _own_file(Path(os.path.normpath(run_folder / name)))  # the folders may not exist yet
        or _found(name, data_folder)
        for split, name in names.items()
    }
    paths = {split: _from_here(path) for split, path in files.items() if path is not None}
    if len(paths) == len(names):
        report.say("data: " + ", ".join(f"{split} {path}" for split, path in paths.items()))
        return paths
    generate = _generator(config.data.task)
    if generate is None or paths:
        absent = [name for split, name in names.items() if split not in paths]
        raise DataError(missing(", ".join(absent), data_folder) + _hint(absent))
    pairs = generate()
    paths = {split: generated / name for split, name in names.items()}
    for split, path in paths.items():
        write_pairs(pairs[split], path)
    report.say(f"data: {config.data.task} generated in {generated}")
    return paths


def datasets_of(files: Sequence[str]) -> list[str]:
    """The names of the published datasets that have some of the files."""
    return [name for name, dataset in DATASETS.items() if any(dataset.file_at(f.split("/")) for f in files)]


def _hint(files: Sequence[str]) -> str:
    """How to download published files. Empty for other files."""
    known = datasets_of(files)
    return f"; to download it: ftor data fetch {' '.join(known)}" if known else ""


def _generator(task: str) -> Callable[[], dict[str, list[tuple[str, str]]]] | None:
    return DATASETS[task].generate if task in DATASETS else None


def _from_here(path: Path) -> Path:
    """The shorter name of a file below the current folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _found(name: str, data_folder: Path | None) -> Path | None:
    return find_file(name, data_folder) or _own_file(Path(name))


def _own_file(path: Path) -> Path | None:
    return path if path.is_file() else None
