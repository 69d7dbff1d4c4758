"""Locks that one process holds at a time. A lock vanishes with its process, even if that is killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ftor.errors import FtorError


class LockedError(FtorError):
    """Another process holds the lock."""


@contextmanager
def lock(file: Path, message: str, seconds: float = 0.0) -> Iterator[None]:
    """Hold a lock.

    Args:
        file: the lock's own file. It is created, with its folder, and stays empty.
        message: of the `LockedError` if another process holds the lock.
        seconds: how long to wait for that process first.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        acquired = FileLock(file).acquire(timeout=seconds)
    except Timeout:
        raise LockedError(message) from None
    with acquired:
        yield


@contextmanager
def lock_folder(folder: Path, command: str) -> Iterator[None]:
    """Be the only process that runs `command` in a folder, which is created if it does not exist."""
    with lock(folder / ".lock", f"{folder}: another {command} is running in this folder; use another --out"):
        yield
