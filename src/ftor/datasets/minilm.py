"""MiniLM: a small pretrained encoder of sentences, as its public home has it."""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open

from ftor.datasets.folders import find_folder
from ftor.datasets.published import MEGABYTE, Download, PublishedDataset, sha256sums
from ftor.text.reading import DataError

ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
"""Its name on the hub, and its folder in a data folder."""
REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"

_FILES = sha256sums("""\
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  tokenizer.json
acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b  tokenizer_config.json
""")


def find_encoder(data_folder: Path | None) -> Path | None:
    """The folder of the encoder in the first data folder that has it, with all its files, or None."""
    folder = find_folder(ENCODER, data_folder, "config.json")
    return folder if folder and all((folder / file).is_file() for file in _FILES) else None


def _check(path: Path) -> None:
    """Raise if a file is not in the format that its name says."""
    try:
        if path.suffix == ".json":
            json.loads(path.read_text("utf-8"))
        else:
            with safe_open(path, framework="numpy"):
                pass
    except (ValueError, OSError, SafetensorError) as error:
        raise DataError(f"{path}: not a file of an encoder: {error}") from None


DATASETS = (
    PublishedDataset(
        "minilm",
        {f"{ENCODER}/{file}": checksum for file, checksum in _FILES.items()},
        tuple(
            Download(f"https://huggingface.co/{ENCODER}/resolve/{REVISION}/{file}", checksum)
            for file, checksum in _FILES.items()
        ),
        other_names={f"{ENCODER}/resolve/*/{file}": f"{ENCODER}/{file}" for file in _FILES},
        check=_check,
        max_bytes=100 * MEGABYTE,
    ),
)
