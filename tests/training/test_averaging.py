"""Averaged weights."""

import pytest
import torch
from torch import nn

from ftor.training.averaging import Average


@pytest.fixture
def network():
    return nn.Linear(1, 1, bias=False)


def values(network, average, steps):
    """Move the weight through `steps`, and give the mean after each."""
    found = []
    for step in steps:
        with torch.no_grad():
            network.weight.fill_(step)
        average.update()
        with average.applied():
            found.append(network.weight.item())
        assert network.weight.item() == step
    return found


def test_it_is_the_mean_at_first_then_forgets(network):
    assert values(network, Average(network, 4), [1, 2, 3, 4]) == pytest.approx([1, 1.5, 2, 2.5])
    assert values(network, Average(network, 2), [1, 2, 3, 4]) == pytest.approx([1, 1.5, 2.25, 3.125])


@pytest.mark.parametrize("steps", [0.2, 1])
def test_less_than_a_step_is_the_weights_themselves(network, steps):
    assert values(network, Average(network, steps), [1, 5, 2]) == [1, 5, 2]


def test_the_weights_come_back_after_an_error(network):
    average = Average(network, 4)
    values(network, average, [1, 3])
    with pytest.raises(RuntimeError), average.applied():
        raise RuntimeError
    assert network.weight.item() == 3


def test_it_goes_on_from_its_state(network):
    whole = Average(network, 3)
    values(network, whole, [1, 2])
    later = Average(network, 3)
    later.restore(whole.state())
    assert values(network, later, [5, 6]) == values(network, whole, [5, 6])
