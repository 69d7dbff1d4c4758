"""The public file of vectors and its excerpt: which stands for which, and when."""

import pytest

from ftor.config import Config
from ftor.datasets import glove
from ftor.datasets.glove import EXCERPT, PUBLIC, check_words, find_vectors, require_vectors
from ftor.text.reading import DataError

LINE = glove.PUBLIC_BEGINNING + b"0.5\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FTOR_DATA", raising=False)
    (tmp_path / "data").mkdir()


def test_each_stands_for_the_other(tmp_path):
    assert find_vectors(PUBLIC, None) is None
    (tmp_path / "data" / EXCERPT).write_bytes(LINE)
    assert find_vectors(PUBLIC, None).name == find_vectors(EXCERPT, None).name == EXCERPT
    (tmp_path / PUBLIC).write_bytes(LINE)
    assert find_vectors(PUBLIC, None).name == PUBLIC, "what is named comes first, here in another folder"
    (tmp_path / "data" / EXCERPT).unlink()
    assert find_vectors(EXCERPT, None).name == PUBLIC


def test_other_vectors_have_no_stand_in(tmp_path):
    (tmp_path / "data" / EXCERPT).write_bytes(LINE)
    with pytest.raises(DataError, match=r"data.vectors: glove.6B.200d.txt: no such file; .* fetch glove$"):
        require_vectors("glove.6B.200d.txt", None)


def test_an_excerpt_with_other_values(tmp_path):
    (tmp_path / "data" / EXCERPT).write_bytes(b"the 1 2\n")
    with pytest.raises(DataError, match=rf"{EXCERPT}:1: expected the first line of {PUBLIC}"):
        find_vectors(PUBLIC, None)
    assert find_vectors(EXCERPT, None).name == EXCERPT, "it is what the user names"


def test_an_excerpt_must_have_most_words(tmp_path):
    words, path = ["texas", "ohio", "utah", "iowa", "7", "a", "Texas", "USA"], tmp_path / EXCERPT
    check_words(PUBLIC, path, words, {"texas", "ohio", "utah"})
    with pytest.raises(DataError, match=r"has 2 of 4 training words, expected at least 75%; .* fetch glove"):
        check_words(PUBLIC, path, words, {"texas", "ohio", "7", "a"})
    check_words(EXCERPT, path, words, {})
    check_words(PUBLIC, tmp_path / PUBLIC, words, {})


def test_the_hash_is_that_of_the_runs_with_the_excerpt():
    config = Config.load("geo-iid")
    assert config.data.vectors == PUBLIC
    assert config.hash == config.with_overrides([f"data.vectors={EXCERPT}"]).hash == "3a855e297ee1"
    assert config.hash != config.with_overrides(["data.vectors=glove.6B.200d.txt"]).hash
