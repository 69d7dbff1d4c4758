"""An output that was cut off, compared with the input from the beginning."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from ftor.jobs.corpora.chunks import Chunk
from ftor.jobs.corpora.request import shown_source
from ftor.jobs.corpora.tally import Tally
from ftor.text.lines import DataError


@dataclass(frozen=True)
class Resumed:
    """What is there of an output.

    Attributes:
        path: the file.
        size: bytes of the chunks that it has whole.
        done: the size of these chunks in the input.
        tally: what is in them.
        first: the first chunk, if any. It is predicted again, to compare its records.
        records: those of its records that are there.
        rest: the chunks that are still to be predicted.
    """

    path: Path
    size: int
    done: int
    tally: Tally
    first: list[Chunk]
    records: list[str]
    rest: Iterator[Chunk]

    def check(self, records: Sequence[str]) -> None:
        """Raise if the first records of a new run are not those that are there."""
        for number, (new, old) in enumerate(zip(records, self.records, strict=False), 1):
            if new != old:
                raise DataError(
                    f"{self.path}:{number}: not the record of this model and these options, so it cannot be "
                    f"resumed: {_difference(json.loads(new), json.loads(old))}"
                )


def _difference(expected: dict[str, object], found: dict[str, object]) -> str:
    """The fields in which two records differ."""
    both = [name for name in expected if name in found and expected[name] != found[name]]
    parts = {
        "other values of": both,
        "no": [name for name in expected if name not in found],
        "also": [name for name in found if name not in expected],
    }
    named = [f"{how} {', '.join(names)}" for how, names in parts.items() if names]
    return f"it has {'; '.join(named)}" if named else "it has the same fields, but is written differently"


def resume(path: Path, chunks: Iterator[Chunk]) -> Resumed:
    """Find the part of an output that is kept: all chunks of the input whose records are complete.

    Raises:
        DataError: if the records are not those of the lines of the input.
    """
    tally, size, done, number = Tally(), 0, 0, 0
    first, first_records = list[Chunk](), list[str]()
    unfinished: list[Chunk] = []
    with path.open("rb") as file:
        for chunk in chunks:
            lines = list(islice(_whole_lines(file), len(chunk.texts)))
            for row, line in enumerate(lines):
                number += 1
                _check_source(f"{path}:{number}", line, chunk, row)
            records = [line.decode().removesuffix("\n") for line in lines]
            if not first:
                first, first_records = [chunk], records
            if len(lines) < len(chunk.texts):
                unfinished = [chunk]
                break
            tally.add(chunk, records)
            size, done = size + sum(map(len, lines)), done + chunk.size
        else:
            if file.readline():
                raise DataError(f"{path}:{number + 1}: more records than the input has lines; not resumed")
    return Resumed(path, size, done, tally, first, first_records, chain(unfinished, chunks))


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The rest of the lines of a file, but for a last one that was cut off."""
    for line in file:
        if line.endswith(b"\n"):
            yield line


def _check_source(place: str, line: bytes, chunk: Chunk, row: int) -> None:
    """Raise if a record is not that of a line of a chunk."""
    try:
        found = json.loads(line)["source"]
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{place}: not a record of `ftor predict`: {line[:60]!r}") from None
    expected = shown_source(chunk.texts[row])
    if found != expected:
        raise DataError(
            f"{place}: the output of another input, so it cannot be resumed: its source is "
            f"{str(found)[:60]!r}, but {chunk.place(row, expected)} is {expected[:60]!r}"
        )
