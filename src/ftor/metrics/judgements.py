"""Whether each output of a run is right, in a small file: intervals and comparisons then need no new run."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ftor.errors import FtorError
from ftor.files import write_atomically
from ftor.metrics import Tokens, Verdicts

FORMAT = 1
JUDGEMENTS_FILE = "judgements.json.gz"
"""What a run writes into its folder at its end."""


@dataclass(frozen=True, eq=False)
class Judgements:
    """The verdicts on the outputs for some pairs.

    Attributes:
        pairs: the `digest` of the pairs. Verdicts on the same pairs can be compared one by one.
        right: whether each output is right, by the name of the judge.
        lengths: the number of words of each source. Files of older versions lack them.
    """

    pairs: str
    right: Verdicts
    lengths: tuple[int, ...] | None = None


def digest(pairs: Iterable[tuple[Tokens, Tokens]]) -> str:
    """Return twelve digits that are the same for the same sources and targets in the same order."""
    lines = (json.dumps([list(source), list(target)]) for source, target in pairs)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def write_judgements(path: Path, splits: Mapping[str, Judgements]) -> None:
    """Write the judgements of each split to a compressed file. The same judgements give the same bytes."""
    values = {
        split: {
            "pairs": judged.pairs,
            "right": {name: "".join("01"[bool(each)] for each in row) for name, row in judged.right.items()},
            **({} if judged.lengths is None else {"lengths": judged.lengths}),
        }
        for split, judged in splits.items()
    }
    packed = gzip.compress(json.dumps({"format": FORMAT, "splits": values}).encode(), mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda unfinished: unfinished.write_bytes(packed))


def read_judgements(path: Path) -> dict[str, Judgements]:
    """Read the judgements of each split. Raises an `FtorError` if the file is damaged."""
    try:
        values = json.loads(gzip.decompress(path.read_bytes()))
        if values["format"] != FORMAT:
            raise FtorError(f"{path}: expected judgements in format {FORMAT}, found {values['format']}")
        return {
            split: Judgements(value["pairs"], _verdicts(value), _lengths(value))
            for split, value in values["splits"].items()
        }
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FtorError(f"{path}: not a file of judgements: {error}") from error


def _verdicts(value: dict[str, Any]) -> Verdicts:
    return {name: _bits(bits) for name, bits in value["right"].items()}


def _lengths(value: dict[str, Any]) -> tuple[int, ...] | None:
    lengths = value.get("lengths")
    return None if lengths is None else tuple(int(length) for length in lengths)


def _bits(bits: str) -> NDArray[np.bool_]:
    if set(bits) - {"0", "1"}:
        raise ValueError(f"expected 0 and 1, found {bits[:20]!r}")
    return np.array([bit == "1" for bit in bits], bool)
