"""The known datasets: their files in a data folder, their checksums, and where the public can get them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path

_RELEASE = "https://raw.githubusercontent.com/namednil/f-then-r/29cacfee753132f80ed334712efc2cfbfa44e539"
_STYLE = "https://raw.githubusercontent.com/yoonkim/neural-qcfg/41c64f151eff078ccdb82d9a493ed03a4deb3038"


@dataclass(frozen=True)
class Home:
    """A public address of an archive or file, with its checksum if that is known."""

    url: str
    sha256: str | None = None


@dataclass(frozen=True)
class Dataset:
    """What belongs together.

    Attributes:
        name: what the command line calls it.
        files: their places in a data folder.
        homes: addresses that have all of the files between them.
        further: a pattern for the names of more files of the kind, which are taken where they are found.
    """

    name: str
    files: tuple[str, ...]
    homes: tuple[Home, ...]
    further: str | None = None


def _splits(template: str, *splits: str) -> tuple[str, ...]:
    return tuple(template.format(split) for split in splits or ("train", "dev", "test"))


# The research release; the checksum of its archive is not known to us, those of the files in it are.
_ARCHIVE = Home(f"{_RELEASE}/data.zip")
_STYLE_FILES = tuple(
    file for task in ("ATP", "AEM", "VEM") for file in _splits(f"{task}/{{}}.tsv", "train", "valid", "test")
)
_DATASETS = (
    Dataset("mirror", _splits("mirror/{}.tsv", "train", "dev", "dev_iid", "test"), (_ARCHIVE,)),
    Dataset("mirror-xyz", _splits("mirror_xyz/{}.tsv"), (_ARCHIVE,)),
    Dataset(
        "geo",
        tuple(file for split in ("iid", "template", "len") for file in _splits(f"geo/{split}_{{}}.tsv")),
        (_ARCHIVE,),
    ),
    # The release's executor reads the facts from a file beside itself, not from the archive.
    Dataset("geobase", ("geo/geobase.pl",), (Home(f"{_RELEASE}/fertility/eval/geo_eval/geobase.pl"),)),
    Dataset(
        "atis",
        _splits("atis/atis_funql_{}_brackets.tsv") + _splits("atis/atis_funql_length4_{}_brackets.tsv"),
        (_ARCHIVE,),
    ),
    Dataset(
        "okapi",
        tuple(
            file
            for domain in ("calendar", "document", "email")
            for file in _splits(f"okapi_length2/{domain}/{{}}.tsv")
        ),
        (_ARCHIVE,),
    ),
    Dataset("style", _STYLE_FILES, tuple(Home(f"{_STYLE}/data/StylePTB/{file}") for file in _STYLE_FILES)),
    Dataset(
        "glove",
        ("glove.6B.200d.txt",),  # the paper's
        (
            Home(
                "https://nlp.stanford.edu/data/glove.6B.zip",
                # as public projects record it, Embeddings.jl and others; its authors publish none
                "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
            ),
        ),
        further=r"glove[\w.-]*\.txt",
    ),
)
DATASETS = {dataset.name: dataset for dataset in _DATASETS}

OTHER_NAMES = {"geobase": "geo/geobase.pl", "geobase.pl": "geo/geobase.pl"}
"""Files that are known by their name alone, wherever they are."""


@cache
def published() -> dict[str, str]:
    """The sha256 of each published file, by its place in a data folder."""
    lines = package_files("ftor.datasets").joinpath("published.sha256").read_text("ascii").splitlines()
    return {file: checksum for checksum, file in (line.split(maxsplit=1) for line in lines)}


def homes(datasets: Iterable[Dataset]) -> list[Home]:
    """Where the datasets come from, each address once."""
    return list(dict.fromkeys(home for dataset in datasets for home in dataset.homes))


def further_files(dataset: Dataset, folder: Path) -> list[Path]:
    """Files of the dataset's kind in a data folder that are not those it is known by."""
    if dataset.further is None or not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if re.fullmatch(dataset.further, path.name))
    return sorted(path for path in found if path.is_file() and path.name not in dataset.files)
