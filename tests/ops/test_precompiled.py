"""Kernels from an archive: used where they fit, compiled anew everywhere else."""

import zipfile

import numba
import numpy as np
import pytest
from numba.core.caching import CacheImpl, CompileResultCacheImpl, FunctionCache

from ftor.errors import FtorError
from ftor.ops import precompiled, simd


def twice(rows, out):
    for row in rows:
        out[row] = 2 * out[row]


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Give the archive of a process that called `twice` with int64 and float32, where kernels look for it."""
    compiled = []
    monkeypatch.setattr(precompiled, "kernels", compiled)
    monkeypatch.setattr(simd, "kernels", compiled)
    monkeypatch.setattr(FunctionCache, "load_overload", lambda *_: None)  # as on a new machine
    monkeypatch.setattr(FunctionCache, "save_overload", lambda *_: None)
    run(np.float32)
    path = precompiled.write_archive(tmp_path / "machine_code")
    monkeypatch.setattr(precompiled, "FOLDER", path.parent)
    return path


def run(dtype):
    """Call a new kernel, and return how many of its versions were found and how many compiled."""
    kernel, out = simd.kernel(twice), np.arange(4, dtype=dtype)
    kernel(np.arange(3), out)
    assert out.tolist() == [0, 2, 4, 3]
    return sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())


FOUND, COMPILED = (1, 0), (0, 1)


def test_a_version_in_the_archive_is_not_compiled(archive):
    assert run(np.float32) == FOUND


def test_a_version_that_is_missing_is_compiled(archive):
    assert run(np.float64) == COMPILED


@pytest.mark.parametrize("package", ["numba", "llvmlite"])
def test_other_versions_compile(archive, monkeypatch, package):
    monkeypatch.setattr(getattr(precompiled, package), "__version__", "0.0.1")
    assert run(np.float32) == COMPILED


def test_other_pythons_compile(archive):
    name = archive.name.removeprefix("py3")
    archive.rename(archive.with_name(f"py2{name}"))
    assert run(np.float32) == COMPILED


def test_a_processor_that_lacks_a_feature_compiles(archive, monkeypatch):
    with_features = precompiled._target

    def without_one(context):
        triple, features = with_features(context)
        return triple, frozenset(sorted(features)[1:])

    monkeypatch.setattr(precompiled, "_target", without_one)
    assert run(np.float32) == COMPILED


def test_a_processor_that_has_more_features_compiles_nothing(archive, monkeypatch):
    with_features = precompiled._target

    def with_one_more(context):
        triple, features = with_features(context)
        return triple, features | {"made-up"}

    monkeypatch.setattr(precompiled, "_target", with_one_more)
    assert run(np.float32) == FOUND


def test_other_sources_compile(archive, monkeypatch):
    monkeypatch.setattr(precompiled, "_sources", lambda: "edited")
    assert run(np.float32) == COMPILED


def cut(path, name):
    path.write_bytes(path.read_bytes()[:-100])


def flip_bits(path, name):
    with zipfile.ZipFile(path) as file:
        place = file.getinfo(name).header_offset + 200  # within the compressed data
    data = bytearray(path.read_bytes())
    data[place] ^= 255
    path.write_bytes(data)


def replace_entry(path, name):
    with zipfile.ZipFile(path) as file:
        entries = {other: file.read(other) for other in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for other, data in entries.items():
            file.writestr(other, b"no pickle" if other == name else data)


@pytest.mark.parametrize("damage", [cut, flip_bits, replace_entry])
def test_a_damaged_archive_compiles(archive, damage):
    with zipfile.ZipFile(archive) as file:
        _, entry = file.namelist()
    damage(archive, entry)
    assert run(np.float32) == COMPILED


def test_damaged_notes_compile(archive):
    replace_entry(archive, precompiled.ABOUT)
    assert run(np.float32) == COMPILED


def test_the_archive_is_read_where_nothing_can_be_written(archive, monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])  # as if no folder were writable
    assert run(np.float32) == FOUND
    assert run(np.float64) == COMPILED


def test_code_that_numba_would_not_keep_is_refused(archive, monkeypatch):
    before = archive.read_bytes()
    monkeypatch.setattr(CompileResultCacheImpl, "check_cachable", lambda *_: False)
    with pytest.raises(FtorError, match="twice: numba cannot keep its code for"):
        precompiled.write_archive(archive.parent)
    assert archive.read_bytes() == before


def test_the_name_says_for_what_it_is(archive):
    assert archive.name.startswith("py3")
    assert f"-numba{numba.__version__}-" in archive.name


def test_sources_of_all_operations_count(tmp_path, monkeypatch):
    (tmp_path / "cyk").mkdir()
    module = tmp_path / "cyk" / "cpu.py"
    monkeypatch.setattr(precompiled, "__file__", str(tmp_path / "precompiled.py"))
    found = set()
    for text in ("a = 1", "a = 2"):
        module.write_text(text)
        found.add(precompiled._sources.__wrapped__())
    module.rename(tmp_path / "cpu.py")
    found.add(precompiled._sources.__wrapped__())
    assert len(found) == 3
