"""Updates with and without accelerate are the same to the bit."""

import pytest
import torch
from accelerate import Accelerator
from torch import nn

from ftor.training.updating import Updates


@pytest.mark.parametrize("clip_norm", [None, 0.1])
def test_updates_are_those_of_accelerate(clip_norm):
    weights, norms = [], []
    for alone in (True, False):
        accelerator = Accelerator(cpu=True)
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.Linear(5, 1))
        prepared = accelerator.prepare(network, torch.optim.Adam(network.parameters(), lr=0.1, fused=True))
        updates = Updates(accelerator, *prepared, clip_norm)
        assert updates._alone, "one process in single precision needs no accelerate"
        updates._alone = alone
        for seed in range(3):
            updates.seed(seed)
            loss = prepared[0](torch.randn(4, 3)).square().sum()
            norms.append(updates.gradients(loss))
            updates.step()
            assert updates.total(loss.detach()[None]) == [loss.item()]
        weights.append([parameter.clone() for parameter in network.parameters()])
    assert norms[:3] == norms[3:]
    for one, other in zip(*weights, strict=True):
        assert torch.equal(one, other)


def test_seeds_are_those_of_torch():
    accelerator = Accelerator(cpu=True)
    network = nn.Linear(1, 1)
    optimizer = accelerator.prepare(torch.optim.Adam(network.parameters()))
    Updates(accelerator, network, optimizer, None).seed(2**40 + 7)
    drawn = torch.rand(3)
    torch.manual_seed(2**40 + 7)
    assert torch.equal(drawn, torch.rand(3))
