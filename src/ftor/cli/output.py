"""Results of commands: tables on stdout, and JSON lines."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from ftor.files import write_atomically


def show(renderable: Any) -> None:
    """Print a text, a table or another renderable of rich to stdout."""
    Console().print(renderable)


def write_lines(records: Iterator[dict[str, Any]], path: Path | None) -> None:
    """Write JSON lines to stdout one by one, or to a file that appears when it is complete."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if path is None:
        sys.stdout.writelines(lines)
        return

    def write(unfinished: Path) -> None:
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(lines)

    write_atomically(path, write)
