"""Kernels that a wheel brings compiled, so that nobody who installs it waits for numba.

Archives in `FOLDER` hold machine code, each for one Python, numba, llvmlite and operating system, which its
name gives. `.ci/kernels.py` writes them when a wheel is built. A source checkout has none. An archive is used
only if the processor has all features that its code needs and if the sources of `ftor.ops` are those that it
was compiled from. Whatever is not there, does not fit or cannot be read is compiled by numba as usual.
"""

import hashlib
import json
import pickle
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from ftor.errors import FtorError

FOLDER = Path(__file__).parent / "machine_code"
ABOUT = "about.json"

kernels: list[Any] = []
"""All kernels of the modules that have been imported."""


class KernelCache(FunctionCache):
    """Numba's cache of a kernel on disk, behind what the wheel brings of it."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Find the version of a kernel for a signature, or None."""
        found = _load(self._py_func, sig, target_context)
        return FunctionCache.load_overload(self, sig, target_context) if found is None else found


class WheelCache(NullCache):
    """What the wheel brings of a kernel, where numba may write nothing."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Find the version of a kernel for a signature, or None."""
        return _load(self._function, sig, target_context)


def cache_of(function: Any) -> KernelCache | WheelCache:
    """The cache of a kernel."""
    try:
        return KernelCache(function)  # type: ignore[no-untyped-call]
    except RuntimeError:  # no folder can be written, neither that of the sources nor the user's cache
        return WheelCache(function)


def _load(function: Any, sig: Any, target_context: Any) -> Any:
    """The version of a kernel that the wheel brings, or None."""
    target_context.refresh()
    archive = find_archive(FOLDER, *_target(target_context))
    if archive is None:
        return None
    # Archives are opened anew each time: processes that are forked would share an open file's position.
    try:
        with zipfile.ZipFile(archive) as file:
            data = pickle.loads(file.read(_entry(function, sig)))
        return CompileResult._rebuild(target_context, *data)
    except Exception:  # not there, or damaged in any way: compiling is always possible
        return None


def _target(target_context: Any) -> tuple[str, frozenset[str]]:
    """The operating system and architecture, and the features of the processor that numba makes use of."""
    triple, _, features = target_context.codegen().magic_tuple()
    return triple, frozenset(name[1:] for name in features.split(",") if name.startswith("+"))


def _entry(function: Any, sig: Any) -> str:
    signature = hashlib.sha256(str(sig).encode()).hexdigest()[:16]
    return f"{function.__module__}.{function.__qualname__}-{signature}"


def _name(triple: str) -> str:
    python = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
    return f"{python}-numba{numba.__version__}-llvmlite{llvmlite.__version__}-{triple}.zip"


@cache
def find_archive(folder: Path, triple: str, features: frozenset[str]) -> Path | None:
    """The archive for this Python, if there is one that fits the processor and the sources."""
    path = folder / _name(triple)
    try:
        with zipfile.ZipFile(path) as file:
            about = json.loads(file.read(ABOUT))
            fits = features.issuperset(about["features"]) and about["sources"] == _sources()
    except Exception:  # not there, or damaged in any way
        return None
    return path if fits else None


@cache
def _sources() -> str:
    """The hash of all modules of `ftor.ops`: kernels also consist of functions of other modules."""
    digest, folder = hashlib.sha256(), Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def write_archive(folder: Path) -> Path:
    """Write every version of a kernel that this process has compiled into an archive.

    Raises:
        FtorError: if code holds addresses of this process, so that numba itself would not keep it.
    """
    context = kernels[0].targetctx
    context.refresh()
    triple, features = _target(context)
    compiled = [(kernel, sig, result) for kernel in kernels for sig, result in kernel.overloads.items()]
    for kernel, sig, result in compiled:
        if not kernel._cache._impl.check_cachable(result):
            raise FtorError(f"{kernel.py_func.__qualname__}: numba cannot keep its code for {sig}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _name(triple)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(ABOUT, json.dumps({"features": sorted(features), "sources": _sources()}))
        for kernel, sig, result in compiled:
            file.writestr(_entry(kernel.py_func, sig), dumps(result._reduce()))
    return path
