"""Importing datasets: what is found where, and that nothing is written if anything is wrong."""

import hashlib
import io
import os
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from ftor.datasets import DATASETS
from ftor.datasets.archives import Candidate
from ftor.datasets.importing import import_files
from ftor.reporting import SILENT
from ftor.text.reading import DataError
from support.archives import PAIRS, VECTORS, row, tree, write_all, zip_of
from support.tiny import run_here
from support.tiny_geo import GEOBASE

FACTS = b"/* facts */\n" + GEOBASE.encode()
MIRROR = [f"mirror/{split}.tsv" for split in ("train", "dev", "dev_iid", "test")]
REAL_DATA = os.environ.get("FTOR_DATA")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)


def test_a_zip_with_all_kinds_of_files(tmp_path):
    files = dict.fromkeys(["data/mirror/train.tsv", "data/AEM/valid.tsv", "x/y/data/geo/iid_dev.tsv"], PAIRS)
    files |= {"data/geobase": FACTS, "glove.6B.50d.txt": VECTORS, "data/README": b"?", "train.tsv": b"?"}
    (tmp_path / "a.zip").write_bytes(zip_of(files))
    finished = run_here("data", "import", "a.zip")
    assert finished.code == 0, finished.err
    assert tree(tmp_path / "data") == [
        *("AEM/valid.tsv", "geo/geobase.pl", "geo/iid_dev.tsv", "glove.6B.50d.txt", "mirror/train.tsv")
    ]
    assert (tmp_path / "data/geo/geobase.pl").read_bytes() == FACTS
    assert row(finished, "mirror") == ["mirror", "1", "0", "mirror/dev.tsv"]
    assert "mirror/test.tsv" in finished.out
    assert row(finished, "atis") == ["atis", "0", "0", "all"]
    assert row(finished, "glove") == ["glove", "1", "0", "glove.6B.100d.txt"]
    assert "glove.6B.200d.txt" in finished.out
    assert "warning: these differ from the published files: " in finished.err


@pytest.mark.parametrize(
    ("source", "given"),
    [("deep/down/mirror", "deep"), ("mirror", "mirror"), ("okapi_length2/email", "okapi_length2/email")],
)
def test_a_folder_at_any_depth(tmp_path, source, given):
    write_all(tmp_path / "from" / source, {"train.tsv": PAIRS})
    assert run_here("data", "import", f"from/{given}", "--to", "to").code == 0
    assert [name.rpartition("/")[2] for name in tree(tmp_path / "to")] == ["train.tsv"]


@pytest.mark.parametrize("outer", ["folder", "zip"])
def test_a_zip_within(tmp_path, outer):
    files = {"f-then-r/data.zip": zip_of({"data/mirror/dev.tsv": PAIRS}), "f-then-r/README.md": b""}
    if outer == "zip":
        (tmp_path / "zip").write_bytes(zip_of(files))
    else:
        write_all(tmp_path / "folder", files)
    assert run_here("data", "import", outer).code == 0
    assert tree(tmp_path / "data") == ["mirror/dev.tsv"]


def test_the_folder_of_the_environment(tmp_path, monkeypatch):
    write_all(tmp_path / "from", {"mirror/dev.tsv": PAIRS})
    monkeypatch.setenv("FTOR_DATA", str(tmp_path / "environment"))
    assert run_here("data", "import", "from").code == 0
    assert tree(tmp_path / "environment") == ["mirror/dev.tsv"]


def test_bad_lines_are_named_and_nothing_is_imported(tmp_path):
    files = {"mirror/dev.tsv": PAIRS, "mirror/train.tsv": b"a\tb\nno tab\n", "AEM/test.tsv": b"\t\n"}
    write_all(tmp_path / "from", files)
    (tmp_path / "from.zip").write_bytes(zip_of(files))
    for source in ("from", "from.zip"):
        finished = run_here("data", "import", source)
        assert (finished.code, finished.out) == (1, "")
        assert f"{source}/mirror/train.tsv:2: no tab between source and target" in finished.err
        assert f"{source}/AEM/test.tsv: " in finished.err
        assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("geobase.pl", FACTS.replace(b"river(", b"rivulet("), "geobase.pl:"),
        ("glove.6B.50d.txt", b"<html> not found", "glove.6B.50d.txt:1: expected a word and its vector"),
        ("glove.6B.50d.txt", b"", "glove.6B.50d.txt:1: expected a word and its vector"),
        ("mirror/dev.tsv", b"", "mirror/dev.tsv: no pairs in the file"),
    ],
)
def test_other_bad_files(tmp_path, name, content, message):
    write_all(tmp_path / "from", {name: content, "mirror/train.tsv": PAIRS})
    finished = run_here("data", "import", "from")
    assert (finished.code, finished.out) == (1, "")
    assert message in finished.err
    assert not (tmp_path / "data").exists()


def test_files_that_differ_are_kept_unless_replaced(tmp_path):
    write_all(tmp_path / "from", {"mirror/dev.tsv": PAIRS, "mirror/test.tsv": PAIRS, "glove.x.txt": VECTORS})
    write_all(tmp_path / "data", {"mirror/dev.tsv": b"my\town\n", "glove.x.txt": VECTORS[::-1]})
    finished = run_here("data", "import", "from")
    assert (finished.code, finished.out) == (1, "")
    for name in ("mirror/dev.tsv", "glove.x.txt"):
        assert f"data/{name}: differs from from/{name}; --replace overwrites it" in finished.err
    assert tree(tmp_path / "data") == ["glove.x.txt", "mirror/dev.tsv"]
    assert run_here("data", "import", "from", "--replace").code == 0
    assert (tmp_path / "data/mirror/dev.tsv").read_bytes() == PAIRS
    finished = run_here("data", "import", "from")
    assert row(finished, "mirror")[:3] == ["mirror", "0", "2"]
    assert row(finished, "glove")[:3] == ["glove", "0", "1"]


def test_two_files_for_one_place(tmp_path):
    write_all(tmp_path / "from", {"a/mirror/dev.tsv": PAIRS, "b/mirror/dev.tsv": PAIRS})
    assert run_here("data", "import", "from").code == 0
    write_all(tmp_path / "from", {"c/mirror/dev.tsv": PAIRS * 2})
    finished = run_here("data", "import", "from", "--to", "other")
    assert finished.code == 1
    assert "mirror/dev.tsv: expected one file, found two that differ" in finished.err
    assert not (tmp_path / "other").exists()


def test_names_in_an_archive_lead_nowhere_else(tmp_path):
    files = {
        **dict.fromkeys(["../../mirror/dev.tsv", "/etc/mirror/train.tsv", "..\\mirror\\test.tsv"], PAIRS),
        "..glove/../glove.6B.50d.txt": VECTORS,
    }
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.zip").write_bytes(zip_of(files))
    assert run_here("data", "import", "inner/a.zip", "--to", "inner/data").code == 0
    assert tree(tmp_path) == ["inner/a.zip", "inner/data/mirror/train.tsv"]


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [("mirror", "mirror/dev.tsv", PAIRS), ("glove", "glove.6B.50d.txt", VECTORS)],
    ids=["pairs", "vectors"],
)
def test_a_bomb_is_refused(tmp_path, monkeypatch, name, file, content):
    monkeypatch.setitem(DATASETS, name, replace(DATASETS[name], max_bytes=10**6))
    (tmp_path / "a.zip").write_bytes(zip_of({file: content * 10**5}))
    finished = run_here("data", "import", "a.zip")
    assert finished.code == 1
    assert f"a.zip/{file}: larger than 1 MB" in finished.err
    assert not (tmp_path / "data").exists()


def test_a_size_that_is_not_true_is_found_out(tmp_path):
    mirror = replace(DATASETS["mirror"], max_bytes=10)
    candidate = Candidate("a", ("mirror", "dev.tsv"), 1, lambda: io.BytesIO(PAIRS))
    with pytest.raises(DataError, match="a: larger than 0 MB"):
        import_files([candidate], [mirror], tmp_path / "data", SILENT)
    assert tree(tmp_path) == []


def damaged(content: bytes) -> bytes:
    at = content.index(PAIRS)
    return content[:at] + b"X" + content[at + 1 :]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no zip", "a.zip: not a zip file, or a damaged one"),
        (
            damaged(zip_of({"mirror/dev.tsv": PAIRS}, zipfile.ZIP_STORED)),
            "a.zip/mirror/dev.tsv: cannot be unpacked",
        ),
        (zip_of({"mirror/other.tsv": PAIRS}), "a.zip: no files of atis, cogs, geo, "),
    ],
    ids=["none", "damaged", "nothing known"],
)
def test_bad_archives(tmp_path, content, message):
    (tmp_path / "a.zip").write_bytes(content)
    finished = run_here("data", "import", "a.zip")
    assert (finished.code, finished.out) == (1, "")
    assert message in finished.err
    assert not (tmp_path / "data").exists()


def test_no_source_and_no_folder(tmp_path):
    finished = run_here("data", "import", "none")
    assert (finished.code, finished.err) == (1, "error: none: no such file or folder\n")
    write_all(tmp_path, {"from/mirror/dev.tsv": PAIRS, "file": b""})
    finished = run_here("data", "import", "from", "--to", "file")
    assert (finished.code, finished.err) == (1, "error: file: a file, not a data folder\n")


def test_a_folder_that_looks_like_markup(tmp_path):
    write_all(tmp_path / "from", {"mirror/dev.tsv": PAIRS})
    assert "[red]" in run_here("data", "import", "from", "--to", "[red]").out
    assert "[red]" in run_here("data", "list", "--data-dir", "[red]").out


def test_the_list_says_what_is_where(tmp_path):
    write_all(tmp_path / "data", dict.fromkeys(MIRROR, PAIRS) | {"glove.x.txt": VECTORS})
    finished = run_here("data", "list")
    assert re.search(r"│ mirror +│ 4 of 4 +│ data +│", finished.out)
    assert "not as published" in finished.out
    assert "not found; ftor data fetch geo " in finished.out
    assert "data/glove.x.txt" in finished.out


def test_which_files_have_no_checksum():
    files = [file for dataset in DATASETS.values() for file in dataset.files.items()]
    assert len(dict(files)) == len(files)
    assert [file for file, checksum in files if checksum is None] == [
        "cogs/gen.tsv",
        "glove.6B.100d.txt",
        "glove.6B.200d.txt",
    ]


@pytest.mark.skipif(not REAL_DATA, reason="FTOR_DATA does not say where the real data is")
def test_the_checksums_are_those_of_the_real_files():
    root = Path(REAL_DATA)
    for dataset in DATASETS.values():
        for file, checksum in dataset.files.items():
            if checksum is not None and (root / file).parent.is_dir():
                assert hashlib.sha256((root / file).read_bytes()).hexdigest() == checksum, file
