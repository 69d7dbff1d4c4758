"""Averaged weights."""

import pytest
import torch
from torch import nn

from ftor.training.averaging import averaged


@pytest.fixture
def network():
    return nn.Linear(1, 1, bias=False)


def means(network, steps, values):
    """Set the weight to each of `values` in turn. Returns the mean after each."""
    average, found = averaged(network, steps), []
    for value in values:
        with torch.no_grad():
            network.weight.fill_(value)
        average.update_parameters(network)
        found.append(average.module.weight.item())
        assert network.weight.item() == value
    return found


def test_it_is_the_plain_mean_at_first_and_then_an_exponential_one(network):
    assert means(network, 4, [1, 2, 3, 4]) == pytest.approx([1, 1.5, 2, 2.5])
    assert means(network, 2, [1, 2, 3, 4]) == pytest.approx([1, 1.5, 2.25, 3.125])


@pytest.mark.parametrize("steps", [0.2, 1])
def test_one_step_or_less_gives_the_weights_themselves(network, steps):
    assert means(network, steps, [1, 5, 2]) == [1, 5, 2]


def test_buffers_are_those_of_the_network():
    network = nn.BatchNorm1d(2)
    average = averaged(network, 4)
    network(torch.randn(3, 2))
    average.update_parameters(network)
    assert average.module.running_mean.equal(network.running_mean)
