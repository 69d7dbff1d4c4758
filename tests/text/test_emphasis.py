"""Sources with a word to emphasise: how they are read, and what they look like to a network."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ftor.text.emphasis import indicators
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import DataError, Pair, Source, read_pairs, read_source, read_sources
from ftor.text.vocabularies import Vocabularies

PAIRS = [Pair(("a", "b", "a"), ("f",), 1, "a"), Pair(("c",), ("g",), 2, "c")]


def test_the_word_is_taken_from_behind_the_sentence(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("the big dog  barked ; big\tthe dog that barked is big\nno no ;no \tyes\n")
    assert read_pairs(path, emphasis=True) == [
        Pair(("the", "big", "dog", "barked"), ("the", "dog", "that", "barked", "is", "big"), 1, "big"),
        Pair(("no", "no"), ("yes",), 2, "no"),
    ]
    assert read_pairs(path)[0].source[-2:] == (";", "big")
    assert read_pairs(path)[0].emphasis is None


def test_every_bad_source_is_named(tmp_path):
    path = tmp_path / "a.tsv"
    sources = ["a b", "a ; b ; a", "a b ; c", "a b ; a b", "a b ;", " ; a", "a b ; A", "a ; a"]
    path.write_text("".join(f"{source}\tx\n" for source in sources))
    with pytest.raises(DataError) as error:
        read_pairs(path, emphasis=True)
    assert str(error.value).splitlines() == [
        f"{path}:1: no ';' before the word to emphasise",
        f"{path}:2: expected one ';', found 2",
        f"{path}:3: the word to emphasise is not in the sentence: 'c'",
        f"{path}:4: the word to emphasise is not in the sentence: 'a b'",
        f"{path}:5: the word to emphasise is not in the sentence: ''",
        f"{path}:6: no sentence before ';'",
        f"{path}:7: the word to emphasise is not in the sentence: 'A'",
    ]


@given(st.text(alphabet="ab;; \té\x00\u2028", max_size=20))
def test_any_text_gives_a_sentence_with_its_word_or_an_error(text):
    sentence, *words = text.split(";")
    if len(words) != 1 or words[0].strip() not in sentence.split():
        with pytest.raises(DataError, match=r"^(no|expected|the word)\b"):
            read_source(text, emphasis=True)
        return
    tokens, word = read_source(text, emphasis=True)
    assert list(tokens) == sentence.split()
    assert word == words[0].strip()
    assert 1 <= sum(indicators(tokens, word)) == tokens.count(word)


class TestSources:
    def test_text_has_its_own_word_and_tokens_are_given_one(self):
        found = read_sources(["a b ; b", ["c", "d"]], [None, "c"], emphasis=True)
        assert found == [Source(("a", "b"), "b"), Source(("c", "d"), "c")]

    @pytest.mark.parametrize(
        ("sentence", "word", "problem"),
        [
            ("a b", None, "no ';'"),
            (["a", "b"], None, "no word to emphasise"),
            (["a", "b"], "c", "the word to emphasise is not in the sentence: 'c'"),
        ],
    )
    def test_the_bad_one_is_named(self, sentence, word, problem):
        with pytest.raises(DataError, match=rf"^sentences: number 2: {problem}"):
            read_sources(["a ; a", sentence], [None, word], emphasis=True)

    def test_as_many_words_as_sentences(self):
        with pytest.raises(ValueError, match=r"emphasis: expected 1 words, found 2"):
            read_sources(["a ; a"], ["a", "b"], emphasis=True)

    def test_models_that_want_no_words_get_none(self):
        assert read_sources(["a ; a"]) == [Source(("a", ";", "a"))]
        with pytest.raises(ValueError, match=r"trained without data.emphasis"):
            read_sources([["a"]], ["a"])


class TestBatches:
    @pytest.mark.parametrize("start", [False, True])
    def test_every_token_that_is_the_word_is_marked(self, start):
        vocabularies = Vocabularies.of(PAIRS, start_token=start)
        batch = EncodedPairs(PAIRS, vocabularies).batch(torch.tensor([1, 0]))
        expected = [[0] * start + [1, 0, 0], [0] * start + [1, 0, 1]]
        assert batch.emphasised.tolist() == expected
        sources = [pair.source for pair in reversed(PAIRS)]
        found = vocabularies.source_batch(sources, emphasis=["c", "a"])
        assert found.emphasised.tolist() == expected
        assert found.take(torch.tensor([1])).emphasised.tolist() == expected[1:]

    def test_without_words_there_is_nothing_to_mark(self):
        vocabularies = Vocabularies.of(PAIRS)
        assert (
            EncodedPairs([Pair(("a",), ("f",), 1)], vocabularies).batch(torch.tensor([0])).emphasised is None
        )
        assert vocabularies.source_batch([("a",)]).emphasised is None
        assert vocabularies.source_batch([("a",)], emphasis=[None]).emphasised is None


@pytest.mark.skipif(not os.environ.get("FTOR_DATA"), reason="FTOR_DATA does not say where the real data is")
@pytest.mark.parametrize(("task", "twice"), [("AEM", 2), ("VEM", 1)])
def test_published_sources_mark_one_token_but_for_a_few(task, twice):
    folder = Path(os.environ["FTOR_DATA"]) / task
    marked = [
        sum(indicators(pair.source, pair.emphasis))
        for split in ("train", "valid", "test")
        for pair in read_pairs(folder / f"{split}.tsv", emphasis=True)
    ]
    assert marked.count(2) == twice
    assert marked.count(1) == len(marked) - twice
