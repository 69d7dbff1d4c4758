"""Pairs as tensors."""

import pytest
import torch

from ftor.text.batches import NO_CLASS
from ftor.text.copying import Copying
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import DataError, Pair
from ftor.text.subwords import SubwordVocabularies
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import COPY, START, UNKNOWN

PAIRS = [Pair(("a", "b", "a"), ("f", "a"), 1), Pair(("c",), ("c", "g", "f"), 2)]
NAMES = [Pair(("find", "High", "top"), ("TOP", "high", "Low"), 1), Pair(("find",), ("High", "x"), 2)]


def test_examples_are_numbered_and_padded():
    vocabularies = Vocabularies.of(PAIRS, copying=None, start_token=True)
    assert vocabularies.source.tokens == ["a", "b", "c"]
    assert vocabularies.target.tokens == ["f", "a", "c", "g"]
    batch = EncodedPairs(PAIRS, vocabularies).batch(torch.tensor([1, 0]))
    assert batch.source.tolist() == [[START, 5, 0, 0], [START, 3, 4, 3]]
    assert batch.source_lengths.tolist() == [2, 4]
    assert batch.target.tolist() == [[2, 3, 0], [0, 1, 0]]
    assert batch.target_lengths.tolist() == [3, 2]
    assert batch.copyable is None
    assert batch.rows.tolist() == [1, 0]


def test_tokens_that_training_lacks_are_unknown():
    vocabularies = Vocabularies.of(PAIRS, copying=None, start_token=False)
    batch = EncodedPairs([Pair(("q", "a"), ("q", "f"), 1)], vocabularies).batch(torch.tensor([0]))
    assert batch.source.tolist() == [[UNKNOWN, 3]]
    assert batch.target.tolist() == [[NO_CLASS, 0]]


def test_copies_have_no_class_of_their_own():
    vocabularies = Vocabularies.of(PAIRS, copying=Copying(), start_token=True)
    assert vocabularies.target.tokens == ["f", "g"]
    batch = EncodedPairs(PAIRS, vocabularies).batch(torch.tensor([0, 1]))
    assert batch.target.tolist() == [[1, COPY, 0], [COPY, 2, 1]]
    expected = torch.zeros(2, 4, 3, dtype=torch.bool)
    expected[0, 1, 1] = expected[0, 3, 1] = expected[1, 1, 0] = True
    assert torch.equal(batch.copyable, expected)


def test_words_that_differ_in_case_are_copies_if_wanted():
    exact = Vocabularies.of(NAMES, Copying())
    assert exact.target_classes(NAMES[0].source, NAMES[0].target) == [1, 2, 3]
    any_case = Vocabularies.of(NAMES, Copying(any_case=True))
    assert any_case.target_classes(NAMES[0].source, NAMES[0].target) == [COPY, COPY, 1]
    batch = EncodedPairs(NAMES, any_case).batch(torch.tensor([0]))
    assert batch.copyable[0].int().tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_wanted_alignments_become_a_mask():
    vocabularies = Vocabularies.of(PAIRS, copying=None, start_token=True)
    dataset, rows = EncodedPairs(PAIRS, vocabularies, [[(1, 1)], [(0, 2), (1, 0)]]), torch.tensor([1, 0])
    aligned = dataset.batch(rows, with_alignments=True).aligned
    assert aligned.nonzero().tolist() == [[0, 0, 2], [0, 1, 0], [1, 1, 1]]
    assert dataset.batch(rows).aligned is None


class Letters:
    """A tokenizer whose subwords are letters. None is unknown."""

    unk_token_id = None

    def __call__(self, text="", text_target=""):
        return {"input_ids": [ord(letter) for letter in text or text_target]}


def test_a_text_with_too_many_subwords_is_named_with_its_line():
    letters = SubwordVocabularies.around(Vocabularies.of(PAIRS), Letters(), longest=5)
    assert EncodedPairs(PAIRS, letters).batch(torch.tensor([1])).target.tolist() == [[99, 32, 103, 32, 102]]
    with pytest.raises(DataError, match=r"^line 7: expected text of at most 5 subwords, found 6: abcdef$"):
        EncodedPairs([Pair(("abcdef",), ("a",), 7)], letters)
