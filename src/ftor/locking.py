"""Files that only one process at a time may hold, on all machines that share them."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
