"""Tokenizers."""

import sys

import pytest

from ftor.errors import FtorError
from ftor.text import tokenizing
from ftor.text.reading import read_pairs
from ftor.text.tokenizing import tokenize


def test_english_is_split_by_spacys_rules(tmp_path):
    pytest.importorskip("spacy")
    path = tmp_path / "a.tsv"
    path.write_bytes(b"i'd  like a 5pm flight\tFILTER file.name eq all-day \n")
    (pair,) = read_pairs(path, "english", "english")
    assert pair.source == ("i", "'d", "like", "a", "5", "pm", "flight")
    assert pair.target == ("FILTER", "file.name", "eq", "all", "-", "day")
    (mixed,) = read_pairs(path, "english", "whitespace")
    assert mixed.target == ("FILTER", "file.name", "eq", "all-day")


def test_without_spacy_the_extra_is_named(monkeypatch):
    tokenizing._english.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(FtorError, match=r"pip install 'ftor\[text\]'"):
        tokenize("a b", "english")
