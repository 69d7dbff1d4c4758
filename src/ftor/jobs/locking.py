"""Files that only one process at a time may hold, on all machines that share them."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ftor.errors import FtorError


class Held(Exception):  # noqa: N818
    """Another process holds the file, and did not let go of it in time."""


@contextmanager
def held(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Hold a file, which is made if there is none; wait for another process for `patience` seconds."""
    with path.open("ab") as file:
        begun = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - begun >= patience:
                    raise Held(path) from None
                time.sleep(0.2)
        yield


@contextmanager
def alone(folder: Path, command: str) -> Iterator[None]:
    """Be the only one who runs a command in a folder, which is made if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(held(folder / ".lock"))
        except Held:
            raise FtorError(
                f"{folder}: expected nobody at work there, found another {command}; give another --out"
            ) from None
        yield
