"""Data folders: where files are looked for."""

import sys
from pathlib import Path

import pytest

from ftor.datasets.folders import find_file, require_file
from ftor.text.reading import DataError


def test_folders_are_searched_in_order(tmp_path, monkeypatch):
    names = ["chosen", "environment", "cache/ftor", "work/data"]
    for name in names:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.tsv").write_text("a\tb")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert find_file("a.tsv", tmp_path / "chosen") == tmp_path / "chosen/a.tsv"
    assert find_file("b.tsv", tmp_path / "chosen") is None
    monkeypatch.setenv("FTOR_DATA", str(tmp_path / "environment"))
    assert find_file("a.tsv", None) == tmp_path / "environment/a.tsv"
    monkeypatch.delenv("FTOR_DATA")
    assert find_file("a.tsv", None) == Path("data/a.tsv")
    Path("data/a.tsv").unlink()
    assert find_file("a.tsv", None) == tmp_path / "cache/ftor/a.tsv"


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder of Linux")
def test_the_cache_is_where_it_was_on_linux(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CACHE_HOME", "FTOR_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".cache/ftor/a.tsv"
    file.parent.mkdir(parents=True)
    file.write_text("a\tb")
    assert find_file("a.tsv", None) == file


def test_a_file_of_the_current_folder_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("a\tb")
    Path("empty").mkdir()
    assert require_file("a.tsv", Path("empty"), "data.train") == Path("a.tsv")
    with pytest.raises(DataError, match=r"^data.train: b.tsv: no such file; looked in empty and the current"):
        require_file("b.tsv", Path("empty"), "data.train")


def test_the_folder_that_the_user_names_must_exist(tmp_path):
    with pytest.raises(DataError, match="none: no such folder"):
        find_file("a.tsv", tmp_path / "none")
