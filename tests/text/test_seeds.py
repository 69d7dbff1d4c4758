"""Derived seeds."""

import pytest

from ftor.text.seeds import derived_seed


@pytest.mark.parametrize(
    ("parts", "bits", "seed"),
    [
        ([(0, 3)], 63, 6726035643313851884),  # the batches of a run's epoch
        ([(7, 1, 20, 0)], 63, 1521658327078445546),  # a step of it
        (["train", 42], 64, 4146815856979284928),  # generated pairs
        ([0, 3, "model.width"], 32, 1264971497),  # a value that a search draws
    ],
)
def test_the_numbers_stay_what_they_are(parts, bits, seed):
    assert derived_seed(*parts, bits=bits) == seed


def test_every_part_counts():
    assert len({derived_seed(seed, step) for seed in range(50) for step in range(50)}) == 2500
