"""Lines of text streams in an unknown encoding, read with constant memory."""

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from ftor.errors import FtorError
from ftor.reporting import Report

LONGEST = 1 << 20
"""Characters of a line that are read. A longer line is cut after one more."""
HEAD = 1 << 20
"""The first bytes decide how lines end."""
ENCODING, INVALID = "utf-8", "surrogateescape"


class DataError(FtorError):
    """Data that cannot be used. The message names each file and line."""


def refuse_archive(raw: bytes, name: str) -> None:
    """Raise if a file begins as zip files do, and with them those of spreadsheets."""
    if raw.startswith(b"PK\x03\x04"):
        raise DataError(f"{name}: a spreadsheet or a zip file, not text; export it as TSV or text in UTF-8")


def line_problem(text: str) -> str:
    """What is wrong with a line of `stream_lines`, whatever it is for. Empty if nothing is."""
    if len(text) > LONGEST:
        return f"longer than {LONGEST} characters"
    return "not a line of text" if "\0" in text else ""


class Line(NamedTuple):
    """A line of a stream: its number, counted from 1, its text, and the bytes of the stream up to its end."""

    number: int
    text: str
    end: int


def stream_lines(file: BinaryIO, name: str, report: Report) -> Iterator[Line]:
    """Yield the lines of a buffered stream. The end of the last line does not begin another one.

    UTF-16 is recognised by its byte order mark. Lines that are not UTF-8 are read as Windows-1252, the
    encoding of old spreadsheets. The rest of a line that is longer than `LONGEST` is skipped.

    Args:
        file: the stream, from its beginning.
        name: that of the file, for messages.
        report: receives the first line that is not UTF-8, and how many there are.
    """
    head = file.read(HEAD)
    refuse_archive(head, name)
    if is_utf_16(head):
        report.warn(f"{name}:1: the file is UTF-16, not UTF-8; it is read as such")
    number = end = guessed = 0
    for text, size in _raw_lines(_Joined(head, file), head):
        number, end = number + 1, end + size
        decoded = _decoded(text)
        if decoded != text:
            if not guessed:
                report.warn(f"{name}:{number}: not UTF-8; such lines are read as Windows-1252 (Latin-1)")
            guessed += 1
        yield Line(number, decoded, end)
    if guessed > 1:
        report.warn(f"{name}: {guessed} lines are not UTF-8")


def lines_between(file: BinaryIO, start: int, end: int) -> list[str]:
    """The texts of the lines between two bytes of a file, as `stream_lines` reads them.

    Only for files whose lines end in "\\n" and that are not UTF-16.
    """
    file.seek(start)
    raw = file.read(end - start)
    if start == 0:
        raw = raw.removeprefix(codecs.BOM_UTF8)
    return [_decoded(text) for text, _ in _raw_lines(io.BytesIO(raw), b"\n")]


def is_utf_16(head: bytes) -> bool:
    """Whether a file begins with a byte order mark of UTF-16."""
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def is_of_old_mac(head: bytes) -> bool:
    """Whether lines end in a carriage return alone."""
    return b"\n" not in head and b"\r" in head and not is_utf_16(head)


def _raw_lines(file: io.RawIOBase | BinaryIO, head: bytes) -> Iterator[tuple[str, int]]:
    """Lines without their ends, and how many bytes they take. Bytes that are not UTF-8 are surrogates."""
    buffered = io.BufferedReader(file)  # type: ignore[type-var]
    line_end = "\r" if is_of_old_mac(head) else "\n"
    if is_utf_16(head):
        written, mark = "utf-16-le", 2
        stream = io.TextIOWrapper(buffered, "utf-16", "replace", newline=line_end)
    else:
        written, mark = ENCODING, len(codecs.BOM_UTF8) * head.startswith(codecs.BOM_UTF8)
        stream = io.TextIOWrapper(buffered, "utf-8-sig" if mark else ENCODING, INVALID, newline=line_end)
    size = mark
    while line := stream.readline(LONGEST + 1):
        size += len(line.encode(written, INVALID))
        rest = line
        while len(rest) == LONGEST + 1 and not rest.endswith(line_end):
            rest = stream.readline(LONGEST + 1)
            size += len(rest.encode(written, INVALID))
        yield line.removesuffix(line_end).rstrip("\r"), size
        size = 0


def _decoded(text: str) -> str:
    """A text whose bytes may not be UTF-8."""
    try:
        text.encode(ENCODING)
    except UnicodeEncodeError:
        return text.encode(ENCODING, INVALID).decode("cp1252", "replace")
    return text


class _Joined(io.RawIOBase):
    """The first bytes of a file, which have been read, and then the others."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = memoryview(head), file

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read at most as many bytes as the buffer has."""
        size = len(buffer)
        data = self._head[:size] if len(self._head) else self._file.read1(size)  # type: ignore[attr-defined]
        self._head = self._head[size:]
        buffer[: len(data)] = data
        return len(data)
