"""Files in folders and zip files."""

import hashlib

import pytest

from ftor.datasets import archives
from ftor.datasets.archives import open_candidates
from ftor.reporting import SILENT
from ftor.text.reading import DataError
from support.archives import PAIRS, write_all, zip_of


def names(path):
    with open_candidates(path) as candidates:
        return [candidate.name.removeprefix(str(path)) for candidate in candidates]


def test_a_folder_is_searched_at_any_depth_and_links_to_nothing_are_skipped(tmp_path):
    write_all(tmp_path, {"b/c.tsv": PAIRS, "a.tsv": PAIRS, "broken.zip": b"no zip"})
    (tmp_path / "link.tsv").symlink_to(tmp_path / "none")
    assert names(tmp_path) == ["/a.tsv", "/b/c.tsv", "/broken.zip"]


def test_a_file_is_its_own_candidate(tmp_path):
    write_all(tmp_path, {"mirror/dev.tsv": PAIRS})
    with open_candidates(tmp_path / "mirror/dev.tsv") as (candidate,):
        assert candidate.path[-2:] == ("mirror", "dev.tsv")
        assert candidate.size == len(PAIRS)
        with SILENT.loading(1) as load:
            checksum = candidate.copy_to(tmp_path / "copy", len(PAIRS), load)
            assert load.done == len(PAIRS)
    assert checksum == hashlib.sha256(PAIRS).hexdigest()
    assert (tmp_path / "copy").read_bytes() == PAIRS


def test_zips_in_zips_are_opened_unless_they_are_large(tmp_path, monkeypatch):
    inner = zip_of({"mirror/dev.tsv": PAIRS, "deeper.zip": zip_of({"a.tsv": PAIRS})})
    (tmp_path / "a.zip").write_bytes(zip_of({"inner.zip": inner, "../b.tsv": PAIRS}))
    assert names(tmp_path / "a.zip") == ["/inner.zip/mirror/dev.tsv", "/inner.zip/deeper.zip"]
    monkeypatch.setattr(archives, "LARGEST_INNER_ZIP", 10)
    assert names(tmp_path / "a.zip") == ["/inner.zip"]


def test_what_is_not_there(tmp_path):
    with pytest.raises(DataError, match="none: no such file or folder"):
        names(tmp_path / "none")
