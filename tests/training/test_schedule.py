"""Learning rates."""

import pytest
import torch
from torch import nn

from ftor.config import TrainingConfig
from ftor.training.schedule import parameter_groups, rate_factor, set_learning_rates


class Network(nn.Module):
    """A network with parts named as those of the transducer."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(2, 2)
        self.reordering = nn.ModuleDict({"hidden": nn.Linear(2, 2), "encoder": nn.Linear(2, 2)})


def names(network, group):
    wanted = {id(parameter) for parameter in group["params"]}
    return {name for name, parameter in network.named_parameters() if id(parameter) in wanted}


def test_a_linear_schedule_rises_then_falls():
    settings = TrainingConfig(schedule="linear", warmup_steps=4, epochs=3)
    factors = [rate_factor(settings, step, 4) for step in range(12)]
    assert factors == pytest.approx([0, 0.25, 0.5, 0.75, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])


def test_a_constant_schedule_only_rises():
    assert {rate_factor(TrainingConfig(), step, 4) for step in range(240)} == {1.0}
    settings = TrainingConfig(warmup_steps=2)
    assert [rate_factor(settings, step, 4) for step in range(4)] == [0, 0.5, 1, 1]


def test_the_span_scorer_has_a_group_of_its_own():
    network = Network()
    others, scorer = parameter_groups(network, TrainingConfig(learning_rate=0.1, scorer_learning_rate=0.01))
    assert names(network, scorer) == {"reordering.hidden.weight", "reordering.hidden.bias"}
    assert names(network, others) == {
        f"{part}.{kind}" for part in ("encoder", "reordering.encoder") for kind in ("weight", "bias")
    }
    assert (others["lr"], scorer["lr"]) == (0.1, 0.01)


def test_so_have_the_span_scorers_of_members():
    network = nn.Module()
    network.members = nn.ModuleList([Network(), Network()])
    _, scorer = parameter_groups(network, TrainingConfig(learning_rate=0.1, scorer_learning_rate=0.01))
    assert names(network, scorer) == {
        f"members.{number}.reordering.hidden.{kind}" for number in (0, 1) for kind in ("weight", "bias")
    }


def test_its_rate_is_that_of_the_others_unless_set():
    others, scorer = parameter_groups(Network(), TrainingConfig(learning_rate=0.1))
    assert (others["lr"], scorer["lr"]) == (0.1, 0.1)


def test_a_network_without_a_scorer_has_one_group():
    (group,) = parameter_groups(nn.Linear(2, 2), TrainingConfig(learning_rate=0.1))
    assert group["lr"] == 0.1


def test_the_rates_of_a_step_depend_on_its_number_only():
    settings = TrainingConfig(learning_rate=0.1, scorer_learning_rate=0.01, warmup_steps=4)
    optimizer = torch.optim.Adam(parameter_groups(Network(), settings))
    for step, wanted in ((6, [0.1, 0.01]), (1, [0.025, 0.0025])):
        set_learning_rates(optimizer, settings, step, 4)
        assert [group["lr"] for group in optimizer.param_groups] == pytest.approx(wanted)
