"""What commands print or write when they are done: tables on stdout, and JSON lines."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def show(renderable: Any) -> None:
    """Print a text, a table or anything else that rich knows."""
    from rich.console import Console

    Console().print(renderable)


def write_lines(records: Iterator[dict[str, Any]], path: Path | None) -> None:
    """JSON lines to stdout as they come, or to a file that appears when it is complete."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if path is None:
        sys.stdout.writelines(lines)
        return
    from ftor.files import write_atomically

    def write(unfinished: Path) -> None:
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(lines)

    write_atomically(path, write)
