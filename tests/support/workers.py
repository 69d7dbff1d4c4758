"""What the worker processes of pytest-xdist share: finished work, and numba's cache of kernels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from filelock import FileLock
from numba.core.caching import IndexDataCacheFile


def make_once(folder: Path, make: Callable[[Path], object]) -> Path:
    """Have the first process that asks for a folder fill it; the others wait for it."""
    done = folder.with_name(f"{folder.name}.done")
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        if not done.exists():
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


def lock_kernel_cache() -> None:
    """Let one process at a time use the index of a kernel's compiled versions.

    Numba numbers the files of a kernel's versions by the index that it last read. Two processes that compile
    the kernel for different types at the same time choose the same number, and the index then names the wrong
    file.
    """
    for name in ("load", "save"):
        setattr(IndexDataCacheFile, name, _locked(getattr(IndexDataCacheFile, name)))


def _locked(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(index: Any, *arguments: Any) -> Any:
        with FileLock(f"{index._index_path}.lock"):
            return method(index, *arguments)

    return call
