"""Vocabularies of subwords, with a tokenizer whose subwords are letters."""

import pytest

from ftor.text.reading import DataError, Pair
from ftor.text.subwords import SubwordVocabularies
from ftor.text.vocabularies import Vocabularies


class Letters:
    unk_token_id = None

    def __call__(self, text="", text_target=""):
        return {"input_ids": [0, *map(ord, text or text_target), 1]}

    def decode(self, ids, skip_special_tokens, clean_up_tokenization_spaces):
        assert (skip_special_tokens, clean_up_tokenization_spaces) == (True, False)
        return "".join(chr(number) for number in ids if number > 1)


@pytest.fixture
def vocabularies():
    words = Vocabularies.of([Pair(("Ab", "c"), ("D",), 1)], lowercase=True)
    return SubwordVocabularies.around(words, Letters(), longest=6)


def test_words_are_kept_and_texts_become_subwords(vocabularies):
    assert (vocabularies.source.tokens, vocabularies.target.tokens) == (["ab", "c"], ["D"])
    assert vocabularies.source_ids(["AB", "c"]) == [0, *map(ord, "ab c"), 1]
    assert vocabularies.target_classes(["AB"], ["E", "F"]) == [0, *map(ord, "E F"), 1]


def test_outputs_are_split_at_white_space(vocabularies):
    assert vocabularies.output([0, *map(ord, "E  F"), 1], ["a"]) == ("E", "F")


def test_long_texts_are_refused(vocabularies):
    with pytest.raises(DataError, match="expected text of at most 6 subwords, found 7: a b c"):
        vocabularies.source_ids(["a", "b", "c"])
