"""Vocabularies, padding, copying and buckets."""

import pytest
import torch

from ftor.text.batches import NO_CLASS, bounded, bucketed
from ftor.text.copying import Copying
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import COPY, START, UNKNOWN, Vocabulary

PAIRS = [Pair(("a", "b", "a"), ("f", "a"), 1), Pair(("c",), ("c", "g", "f"), 2)]


def test_no_text_is_mistaken_for_a_special_id():
    vocabulary = Vocabulary.of([["@start@", "@COPY@", "<unk>"]], specials=3)
    assert [vocabulary.get(token, 1) for token in vocabulary.tokens] == [3, 4, 5]
    assert len(vocabulary) == 6
    assert vocabulary.token(4) == "@COPY@"
    with pytest.raises(ValueError, match="found one twice"):
        Vocabulary(["a", "a"], 0)


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


def test_a_copy_is_its_class_or_the_first_of_its_kind():
    vocabularies = Vocabularies.of(PAIRS, copying=Copying(), start_token=True)
    batch = vocabularies.source_batch([("f", "q", "f"), ("q",)])
    # V = 3: f is class 1, and 3 + 2 is what stands at position 2.
    assert batch.copies.choices.tolist() == [[NO_CLASS, 1, 5, 1], [NO_CLASS, 4, NO_CLASS, NO_CLASS]]
    # f is a class, but training makes a copy of whatever the source has.
    assert batch.as_trained(torch.tensor([1, 2])).tolist() == [COPY, 2]
    assert batch.as_trained(torch.tensor([5, 4])).tolist() == [COPY, COPY]


def test_a_closed_vocabulary_copies_its_classes_alone():
    vocabularies = Vocabularies.of(PAIRS, Copying(open=False), terminals=["q"])
    assert vocabularies.target.tokens == ["f", "g", "q", "a", "c"]  # a and c are copies wherever they occur
    batch = vocabularies.source_batch([("f", "q", "r", "a")])
    assert batch.copies.choices.tolist() == [[NO_CLASS, 1, 3, NO_CLASS, 4]]


NAMES = [Pair(("find", "High", "top"), ("TOP", "high", "Low"), 1), Pair(("find",), ("High", "x"), 2)]


def test_words_that_differ_in_case_are_copies_if_wanted():
    exact = Vocabularies.of(NAMES, Copying())
    assert exact.target_classes(NAMES[0].source, NAMES[0].target) == [1, 2, 3]
    any_case = Vocabularies.of(NAMES, Copying(any_case=True))
    assert any_case.target_classes(NAMES[0].source, NAMES[0].target) == [COPY, COPY, 1]
    batch = EncodedPairs(NAMES, any_case).batch(torch.tensor([0]))
    assert batch.copyable[0].int().tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_some_tokens_are_never_copies():
    rules = Copying(any_case=True, never=frozenset({"TOP"}))
    vocabularies = Vocabularies.of(NAMES, rules)
    assert vocabularies.target.tokens == ["TOP", "Low", "High", "x"]
    assert vocabularies.target_classes(NAMES[0].source, NAMES[0].target) == [1, COPY, 2]
    batch = vocabularies.source_batch([("top", "TOP", "hIGH", "X")])
    # A copy of top is another word than the keyword; one of hIGH is spelled as the class that it means.
    assert batch.copies.choices.tolist() == [[NO_CLASS, 5 + 1, 1, 3, 4]]
    assert batch.as_trained(torch.tensor([1])).tolist() == [1]
    assert batch.as_trained(torch.tensor([3])).tolist() == [COPY]


def test_columns_are_the_choices_of_terminals_then_of_source_tokens():
    terminals = ["g", "q", "zz"]
    batch = Vocabularies.of(PAIRS, Copying()).source_batch([("f", "q"), ("r",)], terminals)
    no = NO_CLASS
    # q is no class, but a word of the first source; V = 3.
    assert batch.columns.tolist() == [[2, 3 + 2, no, no, 1, 3 + 2], [2, no, no, no, 3 + 1, no]]
    plain = Vocabularies.of(PAIRS).source_batch([("f", "q"), ("r",)], terminals)
    assert plain.columns.tolist() == [[3, no, no]] * 2  # with classes for what is copied above
    rows = batch.take(torch.tensor([1]))
    assert rows.columns.tolist() == batch.columns[1:].tolist()


def test_words_are_looked_up_in_lower_case_if_wanted():
    pairs = [Pair(("Boston", "boston"), ("Boston",), 1)]
    vocabularies = Vocabularies.of(pairs, Copying(), lowercase=True)
    assert vocabularies.source.tokens == ["boston"]
    assert vocabularies.source_ids(["BOSTON", "Boston"]) == [START, 3, 3]
    assert vocabularies.target_classes(pairs[0].source, pairs[0].target) == [COPY]


def test_words_become_unknown_at_random():
    vocabularies = Vocabularies.of(PAIRS, copying=None, start_token=True)
    batch = EncodedPairs(PAIRS, vocabularies).batch(torch.arange(2))
    assert batch.with_unknown_words(0.0) is batch
    every = batch.with_unknown_words(0.999999)
    assert every.source.tolist() == [[START, UNKNOWN, UNKNOWN, UNKNOWN], [START, UNKNOWN, 0, 0]]


def test_wanted_alignments_become_a_mask():
    vocabularies = Vocabularies.of(PAIRS, copying=None, start_token=True)
    dataset, rows = EncodedPairs(PAIRS, vocabularies, [[(1, 1)], [(0, 2), (1, 0)]]), torch.tensor([1, 0])
    aligned = dataset.batch(rows, with_alignments=True).aligned
    assert aligned.nonzero().tolist() == [[0, 0, 2], [0, 1, 0], [1, 1, 1]]
    assert dataset.batch(rows).aligned is None


def test_bounded_batches_hold_every_example_once_and_no_more_than_fits():
    lengths = torch.tensor([3, 50, 2, 9, 10, 3, 3, 11])
    batches = bounded(lengths, 3, 2 * 10**3)
    assert [rows.tolist() for rows in batches] == [[2, 0, 5], [6, 3], [4], [7], [1]]
    assert [rows.tolist() for rows in bounded(lengths[:1], 3, 1)] == [[0]]


def test_buckets_hold_every_example_once_and_similar_lengths():
    lengths = torch.randint(1, 60, (1000,))
    batches = bucketed(lengths, 32, 0.1, torch.Generator().manual_seed(1))
    assert sorted(torch.cat(batches).tolist()) == list(range(1000))
    assert sorted(map(len, batches)) == [8] + [32] * 31
    for rows in batches:
        assert lengths[rows].max() <= lengths[rows].min() * (1.1 / 0.9) ** 2 + 2
    shortest = [float(lengths[rows].float().mean()) for rows in batches]
    assert shortest != sorted(shortest), "the order of batches should be random"


def test_buckets_are_a_function_of_the_generator():
    lengths = torch.arange(1, 100)
    one, same, other = (
        [rows.tolist() for rows in bucketed(lengths, 7, 0.1, torch.Generator().manual_seed(seed))]
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_copies_are_spelled_as_the_class_that_they_are():
    vocabularies = Vocabularies.of(NAMES, Copying(any_case=True, never=frozenset({"TOP"})))
    assert vocabularies.spelled(["top", "hIGH", "new", "x"]) == ["top", "High", "new", "x"]
    assert Vocabularies.of(NAMES).spelled(["top"]) == []
