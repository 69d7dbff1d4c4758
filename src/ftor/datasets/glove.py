"""GloVe: pretrained word vectors."""

from pathlib import Path

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


DATASETS = (
    PublishedDataset(
        "glove",
        {"glove.6B.200d.txt": None},  # the vectors that the paper uses
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
