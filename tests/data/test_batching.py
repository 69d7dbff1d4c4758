"""Vocabularies, padding, copying and buckets."""

import pytest
import torch

from ftor.data.batching import NO_CLASS, Dataset, Vocabularies, bounded, bucketed
from ftor.data.reading import Pair
from ftor.data.vocabulary import COPY, START, UNKNOWN, Vocabulary

PAIRS = [Pair(("a", "b", "a"), ("f", "a"), 1), Pair(("c",), ("c", "g", "f"), 2)]


def test_no_text_is_mistaken_for_a_special_id():
    vocabulary = Vocabulary.of([["@start@", "@COPY@", "<unk>"]], specials=3)
    assert [vocabulary.get(token, 1) for token in vocabulary.tokens] == [3, 4, 5]
    assert len(vocabulary) == 6
    assert vocabulary.token(4) == "@COPY@"
    with pytest.raises(ValueError, match="found one twice"):
        Vocabulary(["a", "a"], 0)


def test_examples_are_numbered_and_padded():
    vocabularies = Vocabularies.of(PAIRS, copying=False, start_token=True)
    assert vocabularies.source.tokens == ["a", "b", "c"]
    assert vocabularies.target.tokens == ["f", "a", "c", "g"]
    batch = Dataset(PAIRS, vocabularies).batch(torch.tensor([1, 0]))
    assert batch.source.tolist() == [[START, 5, 0, 0], [START, 3, 4, 3]]
    assert batch.source_lengths.tolist() == [2, 4]
    assert batch.target.tolist() == [[2, 3, 0], [0, 1, 0]]
    assert batch.target_lengths.tolist() == [3, 2]
    assert batch.copyable is None
    assert batch.rows.tolist() == [1, 0]


def test_tokens_that_training_lacks_are_unknown():
    vocabularies = Vocabularies.of(PAIRS, copying=False, start_token=False)
    batch = Dataset([Pair(("q", "a"), ("q", "f"), 1)], vocabularies).batch(torch.tensor([0]))
    assert batch.source.tolist() == [[UNKNOWN, 3]]
    assert batch.target.tolist() == [[NO_CLASS, 0]]


def test_copies_have_no_class_of_their_own():
    vocabularies = Vocabularies.of(PAIRS, copying=True, start_token=True)
    assert vocabularies.target.tokens == ["f", "g"]
    batch = Dataset(PAIRS, vocabularies).batch(torch.tensor([0, 1]))
    assert batch.target.tolist() == [[1, COPY, 0], [COPY, 2, 1]]
    expected = torch.zeros(2, 4, 3, dtype=torch.bool)
    expected[0, 1, 1] = expected[0, 3, 1] = expected[1, 1, 0] = True
    assert torch.equal(batch.copyable, expected)


def test_sources_know_which_of_their_tokens_are_the_same():
    vocabularies = Vocabularies.of(PAIRS, copying=True, start_token=True)
    batch = vocabularies.source_batch([("f", "q", "f"), ("q",)])
    classes, same = batch.copies
    assert classes.tolist() == [[-1, 1, -1, 1], [-1, -1, -1, -1]]
    assert same[0].int().tolist() == [[0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1]]
    assert same[1].int().tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    # f is a class, but training makes a copy of whatever the source has; V = 3, so 5 is source token 2.
    assert batch.as_trained(torch.tensor([1, 2]), classes=3).tolist() == [COPY, 2]
    assert batch.as_trained(torch.tensor([5, 4]), classes=3).tolist() == [COPY, COPY]


def test_words_become_unknown_at_random():
    vocabularies = Vocabularies.of(PAIRS, copying=False, start_token=True)
    batch = Dataset(PAIRS, vocabularies).batch(torch.arange(2))
    assert batch.with_unknown_words(0.0) is batch
    every = batch.with_unknown_words(0.999999)
    assert every.source.tolist() == [[START, UNKNOWN, UNKNOWN, UNKNOWN], [START, UNKNOWN, 0, 0]]


def test_wanted_alignments_become_a_mask():
    vocabularies = Vocabularies.of(PAIRS, copying=False, start_token=True)
    dataset, rows = Dataset(PAIRS, vocabularies, [[(1, 1)], [(0, 2), (1, 0)]]), torch.tensor([1, 0])
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
