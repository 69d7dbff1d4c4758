"""Pretrained word vectors: read from a GloVe-format text file, or made up for a word that it lacks."""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ftor.ops.arrays import Array
from ftor.reporting import SILENT, Report
from ftor.text.reading import DataError

BYTES_AT_ONCE = 1 << 20
_HEADER = re.compile(rb"\d+ \d+")
"""What word2vec writes before the first word: how many there are, and E."""


@dataclass(frozen=True)
class Vectors:
    """The vectors of some words, and how those of all others are distributed.

    Attributes:
        found: words and their vectors (E,).
        size: E.
        mean, deviation: of the numbers in `found`.
    """

    found: dict[str, Array]
    size: int
    mean: float
    deviation: float

    def table(self, words: Iterable[str]) -> Array:
        """The vectors of words (W, E), one of its own for each that has none."""
        return stacked(words, self.found, self.size, self.mean, self.deviation)


def stacked(words: Iterable[str], found: dict[str, Array], size: int, mean: float, deviation: float) -> Array:
    """The vectors (W, E) of words; those not `found` are drawn, the same for the same word everywhere."""
    rows = [found[word] if word in found else _drawn(word, size, mean, deviation) for word in words]
    return np.stack(rows) if rows else np.empty((0, size), np.float32)


def _drawn(word: str, size: int, mean: float, deviation: float) -> Array:
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return np.random.default_rng(seed).normal(mean, deviation, size).astype(np.float32)


def read_vectors(path: Path, words: Collection[str], report: Report | None = None) -> Vectors:
    """Read the vectors of `words` from lines of a word and its numbers, separated by blanks.

    The file may be large: it is read once, and only lines of these words are taken apart.
    """
    wanted = {word.encode("utf-8", "surrogatepass"): word for word in words}
    found: dict[str, Array] = {}
    blanks = None
    try:
        with path.open("rb") as file, (report or SILENT).loading(path.stat().st_size) as load:
            unreported = 0
            for number, line in enumerate(file, 1):
                line = line.rstrip()
                if number == 1 and _HEADER.fullmatch(line):
                    continue
                blanks = line.count(b" ") if blanks is None else blanks
                if not blanks or line.count(b" ") < blanks:
                    expected = f"a word and {blanks or 'its'} numbers"
                    raise DataError(f"{path}:{number}: expected {expected}, found {_shown(line)}")
                own = line.count(b" ") == blanks  # else it is a phrase, which no token is
                word = wanted.get(line[: line.index(b" ")]) if own else None
                if word is not None or not own:
                    vector = _numbers(line, blanks, f"{path}:{number}")
                if word is not None:
                    found[word] = vector
                unreported += len(line) + 1
                if unreported > BYTES_AT_ONCE:
                    load.advance(unreported)
                    unreported = 0
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if blanks is None:
        raise DataError(f"{path}: expected words and their vectors, found an empty file")
    all_found = np.stack(list(found.values())) if found else np.zeros((1, blanks), np.float32)
    mean, deviation = float(all_found.mean()), float(all_found.std()) or 1.0
    return Vectors(found, blanks, mean, deviation)


def _numbers(line: bytes, count: int, where: str) -> Array:
    try:
        vector = np.array([float(part) for part in line.rsplit(b" ", count)[1:]], np.float32)
    except ValueError:
        vector = np.array([np.nan], np.float32)
    if not np.isfinite(vector).all():
        raise DataError(f"{where}: expected a word and {count} finite numbers, found {_shown(line)}")
    return vector


def _shown(line: bytes) -> str:
    """The beginning of a line, for a message."""
    return repr(line[:60].decode("utf-8", "replace")) + "…" * (len(line) > 60)
