"""Which pairs each epoch has."""

import torch

from ftor.config.sections import TrainingConfig
from ftor.text.batches import bucketed
from ftor.text.seeds import derived_seed
from ftor.training.drawing import Draws


def draws(own=8, made=0, **settings):
    return Draws(own, made, TrainingConfig(batch_size=3, **settings))


def test_without_a_pool_every_epoch_has_all_pairs_in_the_batches_of_before():
    lengths = torch.arange(12) % 5 + 1
    some = draws(8, 4, recombine=0.5)
    for epoch in range(3):
        generator = torch.Generator().manual_seed(derived_seed((0, epoch)))
        expected = bucketed(lengths, 3, 0.1, generator)
        found = some.batches(epoch, lengths)
        assert [rows.tolist() for rows in found] == [rows.tolist() for rows in expected]


def test_a_pool_gives_each_epoch_other_recombined_pairs_and_always_the_users():
    some = draws(8, 32, recombine=1.0, recombine_pool=4)
    epochs = [some.rows(epoch).tolist() for epoch in range(6)]
    assert all(rows[:8] == list(range(8)) for rows in epochs)
    made = [frozenset(rows[8:]) for rows in epochs]
    assert all(len(rows) == 8 and min(rows) >= 8 and max(rows) < 40 for rows in made)
    assert len({*made}) == 6
    assert epochs == [
        draws(8, 32, recombine=1.0, recombine_pool=4).rows(epoch).tolist() for epoch in range(6)
    ]
    other = draws(8, 32, recombine=1.0, recombine_pool=4, seed=1)
    assert other.rows(0).tolist() != epochs[0]


def test_fewer_made_pairs_than_wanted_are_all_taken():
    some = draws(8, 3, recombine=1.0, recombine_pool=4)
    assert some.rows(5).tolist() == list(range(11))


def test_recombined_pairs_are_left_out_after_their_epochs():
    some = draws(8, 16, recombine=1.0, recombine_pool=2, recombine_epochs=2)
    assert [some.count(epoch) for epoch in range(4)] == [16, 16, 8, 8]
    assert some.total(4) == 48
    assert some.rows(2).tolist() == list(range(8))
    assert sorted(torch.cat(some.batches(3, torch.ones(24))).tolist()) == list(range(8))
