"""Pretrained word vectors from a text file in GloVe format. Words that it lacks get random vectors."""

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
"""The first line of word2vec files: number of words, and E."""


@dataclass(frozen=True)
class Vectors:
    """The vectors of some words, and the distribution of the vectors of all other words.

    Attributes:
        by_word: words and their vectors (E,).
        size: E.
        mean, deviation: of the numbers of other vectors.
    """

    by_word: dict[str, Array]
    size: int
    mean: float
    deviation: float

    def table(self, words: Iterable[str]) -> Array:
        """The vectors of words (W, E). A word without a vector gets a random one, the same everywhere."""
        rows = [self.by_word[word] if word in self.by_word else self._random(word) for word in words]
        return np.stack(rows) if rows else np.empty((0, self.size), np.float32)

    def _random(self, word: str) -> Array:
        # Saved models rely on these numbers: the seed is not that of `derived_seed`, which came later.
        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        return np.random.default_rng(seed).normal(self.mean, self.deviation, self.size).astype(np.float32)


def read_vectors(path: Path, words: Collection[str], report: Report | None = None) -> Vectors:
    """Read the vectors of `words` from a file whose lines are a word and its numbers, separated by spaces.

    The file may be large. It is read once, and only the lines of these words are parsed.
    """
    wanted = {word.encode("utf-8", "surrogatepass"): word for word in words}
    by_word: dict[str, Array] = {}
    count = None  # numbers per line
    try:
        with path.open("rb") as file, (report or SILENT).loading(path.stat().st_size) as load:
            unreported = 0
            for number, line in enumerate(file, 1):
                line = line.rstrip()
                if number == 1 and _HEADER.fullmatch(line):
                    continue
                count = line.count(b" ") if count is None else count
                if not count or line.count(b" ") < count:
                    expected = f"a word and {count or 'its'} numbers"
                    raise DataError(f"{path}:{number}: expected {expected}, found {_shown(line)}")
                is_word = line.count(b" ") == count  # else a phrase, which is never a token
                word = wanted.get(line[: line.index(b" ")]) if is_word else None
                if word is not None or not is_word:
                    vector = _numbers(line, count, f"{path}:{number}")
                if word is not None:
                    by_word[word] = vector
                unreported += len(line) + 1
                if unreported > BYTES_AT_ONCE:
                    load.advance(unreported)
                    unreported = 0
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if count is None:
        raise DataError(f"{path}: the file is empty")
    numbers = np.stack(list(by_word.values())) if by_word else np.zeros((1, count), np.float32)
    mean, deviation = float(numbers.mean()), float(numbers.std()) or 1.0
    return Vectors(by_word, count, mean, deviation)


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
