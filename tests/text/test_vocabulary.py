"""Vocabularies of one side."""

import pytest

from ftor.text.vocabulary import Vocabulary


def test_no_text_is_mistaken_for_a_special_id():
    vocabulary = Vocabulary.of([["@start@", "@COPY@", "<unk>"]], specials=3)
    assert [vocabulary.get(token, 1) for token in vocabulary.tokens] == [3, 4, 5]
    assert len(vocabulary) == 6
    assert vocabulary.token(4) == "@COPY@"
    with pytest.raises(ValueError, match="one occurs twice"):
        Vocabulary(["a", "a"], 0)


def test_tokens_are_in_the_order_of_their_first_occurrence_and_can_be_added():
    vocabulary = Vocabulary.of([["b", "a"], ["a", "c"]], specials=1)
    assert vocabulary.tokens == ["b", "a", "c"]
    assert "d" not in vocabulary
    vocabulary.add("d")
    assert (vocabulary.get("d", 0), vocabulary.token(4), len(vocabulary)) == (4, "d", 5)
    assert vocabulary.get("e", 0) == 0
