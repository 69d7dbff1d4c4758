"""The state of a run."""

import pytest

from ftor.training.state import RunState


def test_losses_are_summed_and_averaged():
    state = RunState()
    state.add_losses([1.0, 2.0, 3.0])
    state.add_losses([3.0, 2.0, 1.0])
    assert state.step == 2
    assert state.mean_losses(8) == {"tokens": 0.5, "length": 0.5, "alignment": 0.5}


def test_the_next_epoch_starts_at_its_first_batch():
    state = RunState()
    state.add_losses([1.0, 2.0, 3.0])
    state.start_next_epoch()
    assert (state.epoch, state.step, state.sums) == (1, 0, [0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("keys", "best"),
    [
        ([[0.1], [0.3], [0.2]], 2),
        ([[0.5, -3.0], [0.5, -1.0], [0.5, -2.0]], 2),
        ([[0.5, -1.0], [0.5, -1.0]], 1),
    ],
    ids=["greatest", "second number", "first of equals"],
)
def test_the_best_epoch_has_the_greatest_key(keys, best):
    state = RunState()
    for number, key in enumerate(keys, 1):
        is_best = state.add_record({"epoch": number}, key)
        assert is_best == (state.best_epoch == number)
        state.start_next_epoch()
    assert state.best_epoch == best
    assert state.best == keys[best - 1]
    assert [record["epoch"] for record in state.history] == list(range(1, len(keys) + 1))
