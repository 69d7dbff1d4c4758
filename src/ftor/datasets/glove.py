"""GloVe: pretrained word vectors, and the excerpt that may stand for the public file."""

from collections.abc import Collection
from pathlib import Path

from ftor.datasets.folders import find_file, missing
from ftor.datasets.published import MEGABYTE, Download, PublishedDataset
from ftor.text.reading import DataError


def check_first_line(path: Path) -> None:
    """Check that the file begins with a word and its vector. It is too large to check every line."""
    with path.open("rb") as file:
        line = file.readline(MEGABYTE)
    try:
        _, *numbers = line.decode("utf-8").split()
        vector = [float(number) for number in numbers]
    except ValueError:
        vector = []
    if not vector:
        raise DataError(f"{path}:1: expected a word and its vector, found {line[:40]!r}")


PUBLIC, EXCERPT = "glove.6B.100d.txt", "glove.6B.100d.subset.txt"
"""A public file, and lines of it that may stand for it."""
PUBLIC_BEGINNING = b"the -0.038194 -0.24487 0.72812 -0.39961 "
"""The first word of the public file, which an excerpt has too, and the first of its 100 numbers."""
LEAST_SHARE = 0.75
"""Of the training words of two or more small letters, the share that an excerpt must have."""


def find_vectors(name: str, data_folder: Path | None) -> Path | None:
    """A file of vectors in the data folders or the current folder, or None.

    The excerpt stands for the public file where that is missing, and the public file for the excerpt.

    Raises:
        DataError: if the excerpt does not have the values of the public file.
    """
    stand_ins = {PUBLIC: EXCERPT, EXCERPT: PUBLIC}
    for file in (name, stand_ins.get(name)):
        path = file and (find_file(file, data_folder) or (Path(file) if Path(file).is_file() else None))
        if path:
            if file == EXCERPT and name == PUBLIC:
                _check_values(path)
            return path
    return None


def require_vectors(name: str, data_folder: Path | None) -> Path:
    """A file of vectors, as `find_vectors` finds it. Raises a `DataError` if there is none."""
    path = find_vectors(name, data_folder)
    if path is None:
        hint = "public vectors: ftor data fetch glove"
        raise DataError(f"data.vectors: {missing(name, data_folder)}; {hint}")
    return path


def check_words(name: str, path: Path, words: Collection[str], found: Collection[str]) -> None:
    """Raise a `DataError` if an excerpt stands for the public file and lacks too many words.

    Numbers and single letters do not count: the excerpt has none. Nor do capitals: the public file has none.

    Args:
        name: the file that the experiment names.
        path: the file that was found.
        words: the words of the training pairs.
        found: the words that have a vector.
    """
    if path.name == Path(name).name or path.name != EXCERPT:
        return
    usual = [word for word in words if word.isalpha() and word.islower() and len(word) > 1]
    there = sum(word in found for word in usual)
    if there < LEAST_SHARE * len(usual):
        raise DataError(
            f"{path}: this excerpt of {name} has {there} of {len(usual)} training words, expected at least "
            f"{LEAST_SHARE:.0%}; the whole file: ftor data fetch glove"
        )


def _check_values(path: Path) -> None:
    with path.open("rb") as file:
        if not file.readline(MEGABYTE).startswith(PUBLIC_BEGINNING):
            raise DataError(f"{path}:1: expected the first line of {PUBLIC}, of which this is an excerpt")


DATASETS = (
    PublishedDataset(
        "glove",
        {PUBLIC: None, "glove.6B.200d.txt": None},  # those of our experiments, and those of the paper
        (
            Download(
                "https://nlp.stanford.edu/data/glove.6B.zip",
                # as public projects record it, Embeddings.jl and others; its authors publish none
                "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
            ),
        ),
        extra_files=r"glove[\w.-]*\.txt",
        check=check_first_line,
        max_bytes=8000 * MEGABYTE,  # the largest published GloVe file has 5.6 GB
    ),
)
