"""Text and JSON files that are written completely or not at all, and JSON lines."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ftor.errors import FtorError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file beside `path`, then rename it to `path`.

    If anything fails, for instance because the disk is full, the old file at `path` stays as it was.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(unfinished)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    finally:
        unfinished.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Remove the unfinished files that killed processes have left in `folder`."""
    for path in folder.glob(".*.[0-9]*"):
        path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    write_atomically(path, lambda unfinished: unfinished.write_text(text, "utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text("utf-8"))


def append_json_line(path: Path, record: Mapping[str, Any]) -> None:
    """Append a JSON line in one write, so that lines of several processes do not mix.

    A last line that somebody was killed in the middle of is ended first, so that it damages no other line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as file:
        unfinished = file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n"
        file.write((("\n" if unfinished else "") + json.dumps(record, ensure_ascii=False) + "\n").encode())


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read a JSONL file: one record per line. Raises an `FtorError` if a line is not a JSON object."""
    records = []
    # Not `splitlines`: strings may contain other line separators than \n.
    lines = path.read_text("utf-8").split("\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise FtorError(f"{path}:{number}: not a JSON object: {line[:60]!r}")
        records.append(record)
    return records
