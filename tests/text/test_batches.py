"""Batches: padding, unknown words, and how examples are cut into batches."""

import torch

from ftor.text.batches import Ragged, bounded, bucketed
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import START, UNKNOWN

PAIRS = [Pair(("a", "b", "a"), ("f", "a"), 1), Pair(("c",), ("c", "g", "f"), 2)]


def test_words_become_unknown_at_random():
    vocabularies = Vocabularies.of(PAIRS, copying=None, start_token=True)
    batch = EncodedPairs(PAIRS, vocabularies).batch(torch.arange(2))
    assert batch.with_unknown_words(0.0) is batch
    every = batch.with_unknown_words(0.999999)
    assert every.source.tolist() == [[START, UNKNOWN, UNKNOWN, UNKNOWN], [START, UNKNOWN, 0, 0]]


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


def test_sequences_are_padded_to_the_longest_of_their_batch():
    ragged = Ragged([[1, 2, 3], [4], [], [5, 6]])
    assert ragged.lengths.tolist() == [3, 1, 0, 2]
    assert ragged.padded(torch.tensor([3, 1]), padding=9).tolist() == [[5, 6], [4, 9]]
    assert ragged.padded(torch.tensor([2, 0]), padding=9).tolist() == [[9, 9, 9], [1, 2, 3]]
