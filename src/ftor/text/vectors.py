"""Pretrained word vectors from a text file in GloVe format. Words that it lacks get random vectors."""

import hashlib
import re
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
        seed = int.from_bytes(hashlib.sha256(_bytes(word)).digest()[:8], "big")
        return np.random.default_rng(seed).normal(self.mean, self.deviation, self.size).astype(np.float32)


def read_vectors(path: Path, words: Collection[str], report: Report | None = None) -> Vectors:
    """Read the vectors of `words` from a file whose lines are a word and its numbers, separated by spaces.

    The file may be large. It is read once, and only the lines of these words are parsed.
    """
    wanted = {_bytes(word): word for word in words}
    by_word: dict[str, Array] = {}
    for line in _lines(path, report or SILENT):
        size = line.size
        if (word := wanted.get(line.word)) is not None:
            by_word[word] = _numbers(line.text, size, f"{path}:{line.number}")
    numbers = np.stack(list(by_word.values())) if by_word else np.zeros((1, size), np.float32)
    mean, deviation = float(numbers.mean()), float(numbers.std()) or 1.0
    return Vectors(by_word, size, mean, deviation)


class VectorFile:
    """A file of vectors whose words can be looked up again and again. It is read through once.

    Only the places of the words are kept, 16 bytes for each.

    Args:
        path: the file, as for `read_vectors`.

    Attributes:
        size: E.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        hashes, offsets = array("q"), array("q")
        for line in _lines(path, SILENT):
            self.size = line.size
            hashes.append(hash(line.word))
            offsets.append(line.offset)
        unsorted = np.frombuffer(hashes, np.int64)
        order = unsorted.argsort(kind="stable")
        self._hashes, self._offsets = unsorted[order], np.frombuffer(offsets, np.int64)[order]

    def find(self, words: Iterable[str]) -> dict[str, Array]:
        """The vectors of those words that the file has. Of several lines for a word, the last counts."""
        found: dict[str, Array] = {}
        with self.path.open("rb") as file:
            for word in words:
                key = _bytes(word)
                first, end = (self._hashes.searchsorted(hash(key), side) for side in ("left", "right"))
                for offset in self._offsets[first:end][::-1].tolist():
                    file.seek(offset)
                    line = file.readline().rstrip()
                    if line.startswith(key + b" "):
                        found[word] = _numbers(line, self.size, f"{self.path}: {word}")
                        break
        return found


class _Line(NamedTuple):
    """A line of a file of vectors: its number, where it begins, what it says, its word and E."""

    number: int
    offset: int
    text: bytes
    word: bytes
    size: int


def _lines(path: Path, report: Report) -> Iterator[_Line]:
    """The lines of single words. Lines of phrases, which are never tokens, are only checked."""
    count = None  # numbers per line
    try:
        with path.open("rb") as file, report.loading(path.stat().st_size) as load:
            unreported = offset = 0
            for number, line in enumerate(file, 1):
                begin, offset = offset, offset + len(line)
                line = line.rstrip()
                if number == 1 and _HEADER.fullmatch(line):
                    continue
                count = line.count(b" ") if count is None else count
                if not count or line.count(b" ") < count:
                    expected = f"a word and {count or 'its'} numbers"
                    raise DataError(f"{path}:{number}: expected {expected}, found {_shown(line)}")
                if line.count(b" ") == count:
                    yield _Line(number, begin, line, line[: line.index(b" ")], count)
                else:
                    _numbers(line, count, f"{path}:{number}")
                unreported += len(line) + 1
                if unreported > BYTES_AT_ONCE:
                    load.advance(unreported)
                    unreported = 0
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if count is None:
        raise DataError(f"{path}: the file is empty")


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


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
