"""What a race holds out of training."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from ftor.text.reading import Pair
from ftor.tuning.race.held_out import FEWEST_MADE, LEAST_PAIRS, SHARE, hold_out, longer_pairs


def pairs_of(count, seed=0):
    """Return pairs of one to eight words, which are written in upper case."""
    draw = Random(seed)
    sources = {tuple(draw.choices("abcdef", k=draw.randint(1, 8))) for _ in range(3 * count)}
    return [
        Pair(source, tuple(map(str.upper, source)), i) for i, source in enumerate(sorted(sources)[:count])
    ]


@pytest.mark.parametrize("count", [LEAST_PAIRS, 40, 200, 3000])
def test_every_pair_is_in_one_part(count):
    pairs = pairs_of(count)
    parts = hold_out(pairs, seed=1)
    assert sorted(parts.train + parts.random + parts.harder) == list(range(len(pairs)))
    assert len(parts.random) == pytest.approx(min(max(len(pairs) / 8, 5), 100), abs=2)
    assert len(parts.train) >= 0.6 * len(pairs)


def test_training_keeps_every_word_that_is_no_copy():
    pairs = [*pairs_of(100), Pair(("rare", "a"), ("RARE", "A"), 200), Pair(("42", "a"), ("42", "A"), 201)]
    for seed in range(5):
        parts = hold_out(pairs, seed, copying=True)
        assert len(pairs) - 2 in parts.train
        words = {word for i in parts.train for word in pairs[i].source + pairs[i].target}
        assert all({*pairs[i].source} - {*pairs[i].target} <= words for i in parts.random + parts.harder)


def test_training_keeps_words_that_would_be_copies_if_the_model_does_not_copy():
    pairs = [*pairs_of(40), *(Pair((f"n{i}", "a"), (f"n{i}", "A"), 200 + i) for i in range(40))]
    for seed in range(5):
        held_out = {False: hold_out(pairs, seed), True: hold_out(pairs, seed, copying=True)}
        assert max(held_out[False].random + held_out[False].harder) < len(pairs) - 40
        assert max(held_out[True].random) >= len(pairs) - 40


def test_the_longest_are_among_the_harder():
    pairs = pairs_of(200)
    parts = hold_out(pairs, seed=0)
    longest = max(len(pair.target) for pair in pairs)
    assert sum(len(pairs[i].target) == longest for i in parts.harder) > 5
    kept = Counter(len(pairs[i].target) for i in parts.train)
    assert kept[longest] < sum(len(pair.target) == longest for pair in pairs) / 2


@pytest.mark.parametrize("longer_targets", [0, 6])
def test_where_targets_are_alike_the_longest_sources_are_among_the_harder(longer_targets):
    """The few longer targets are among the harder ones, too."""
    draw = Random(3)
    pairs = [
        Pair(tuple(draw.choices("abcdef", k=2 + i % 19)), ("X", "Y" if i % 2 else "Z"), i) for i in range(190)
    ]
    pairs += [Pair((word,) * 5, ("X", "Y", "Z"), 0) for word in "abcdef"[:longer_targets]]
    harder = hold_out(pairs, seed=0).harder
    assert sum(len(pairs[i].target) == 3 for i in harder) == longer_targets // 2
    long = [i for i in harder if len(pairs[i].source) > 17]
    assert len(long) == len(pairs) // SHARE // 2 - longer_targets // 2
    kept = [pair for i, pair in enumerate(pairs) if i not in harder]
    assert max(len(pair.source) for pair in kept) == 20, "training keeps every other one"


def test_where_targets_differ_they_alone_tell_which_pairs_are_longest():
    pairs = [*pairs_of(200), Pair(tuple(30 * "ab"), ("A", "B"), 200)]
    harder = hold_out(pairs, seed=0).harder
    assert len(pairs) - 1 not in harder
    assert sum(len(pairs[i].target) >= 7 for i in harder) >= len(pairs) // SHARE // 2


def test_a_combination_that_occurs_once_is_harder():
    usual = [Pair((a, b), (a.upper(), b.upper()), 0) for a in "abcde" for b in "vwxyz"] * 2
    usual = [Pair((*pair.source, str(i)), pair.target, i) for i, pair in enumerate(usual)]
    odd = Pair(("v", "a", "b"), ("V", "A"), 99)
    parts = hold_out([*usual, odd], seed=0)
    assert len(usual) in parts.harder


def test_sources_that_occur_twice_stay_in_training():
    pairs = pairs_of(100)
    parts = hold_out([*pairs, *pairs[:50]], seed=0)
    assert not {*parts.random, *parts.harder} & {*range(50), *range(100, 150)}


def test_the_seed_draws():
    pairs = pairs_of(200)
    assert hold_out(pairs, 1) == hold_out(pairs, 1)
    assert hold_out(pairs, 1).random != hold_out(pairs, 2).random


def test_few_pairs_are_all_trained_on():
    parts = hold_out(pairs_of(LEAST_PAIRS - 1), 0)
    assert (len(parts.train), parts.random, parts.harder) == (LEAST_PAIRS - 1, [], [])


def test_with_dev_pairs_none_are_drawn():
    assert not hold_out(pairs_of(100), 0, at_random=False).random


def test_longer_pairs_are_longer_than_all_of_training():
    pairs = pairs_of(240)
    made = [replace(pair, target=pair.target * 3) for pair in pairs]
    longest = max(len(pair.target) for pair in pairs)
    longer = longer_pairs(pairs, made)
    assert longer
    assert all(len(pair.target) > longest for pair in longer)
    assert len(longer) <= len(pairs) // 16


def test_few_pairs_have_enough_longer_ones_to_tell_candidates_apart():
    pairs = pairs_of(40)
    made = [replace(pair, target=pair.target * 3) for pair in pairs]
    assert len(longer_pairs(pairs, made)) == FEWEST_MADE
