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


def test_the_words_of_earlier_texts_are_forgotten(monkeypatch):
    pytest.importorskip("spacy")
    monkeypatch.setattr(tokenizing, "TEXTS", 3)
    make, made = tokenizing._english, []
    monkeypatch.setattr(tokenizing, "_english", lambda number: made.append(make(number)) or made[-1])
    texts = [f"it's w{number}, isn't it" for number in range(8)]
    wanted = [("it", "'s", f"w{number}", ",", "is", "n't", "it") for number in range(8)]
    assert [tokenize(text, "english") for text in texts] == wanted
    strings = made[-1].vocab.strings
    assert len({id(tokenizer) for tokenizer in made}) >= 3
    assert "w7" in strings
    assert "w0" not in strings


def test_without_spacy_the_extra_is_named(monkeypatch):
    tokenizing._english.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(FtorError, match=r"pip install 'ftor\[text\]'"):
        tokenize("a b", "english")
