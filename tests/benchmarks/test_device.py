"""The layers in plain torch, as a GPU runs them: few operations, and no wait for a result."""

import pytest
import torch

import device
import ftor.ops


@pytest.mark.parametrize("name", device.LAYERS)
def test_nothing_waits_for_the_device(name):
    call = device.LAYERS[name](6)
    with ftor.ops.implementation("device"), device.Waits(refuse=True):
        call().sum().backward()


def test_waits_are_noticed():
    with device.Waits(refuse=True), pytest.raises(RuntimeError, match="waits"):
        torch.ones(1).item()
    numbers = torch.arange(3)
    with device.Waits() as waits:
        assert bool(torch.ones(1))
        assert len(numbers[numbers > 0]) == len(torch.where(numbers > 0)[0]) == 2
        assert len(numbers.unique()) == len(numbers[1:]) + 1
        numbers[numbers > 0] = 0
    assert waits.count == 5


@pytest.mark.parametrize("name", device.LAYERS)
def test_operations_grow_with_the_length_only(name):
    short, long = (device.counts(device.LAYERS[name](length)) for length in (8, 16))
    for way in ("forward", "backward"):
        assert long[way] <= 15 / 7 * short[way]  # l − 1 widths


@pytest.mark.parametrize("name", device.LAYERS)
def test_nothing_needs_values(name):
    on_meta, here = (device.LAYERS[name](6, where)() for where in ("meta", "cpu"))
    on_meta.sum().backward()
    assert on_meta.shape == here.shape
    assert on_meta.device.type == "meta"


@pytest.mark.parametrize("name", ["reordering", "fertility"])
def test_half_precision_around_a_layer_changes_its_numbers_little(name):
    call = device.LAYERS[name](6)
    with ftor.ops.implementation("torch"):
        exact = call()
        with torch.autocast("cpu", torch.bfloat16):
            about = call()
    assert about.dtype == torch.float32
    torch.testing.assert_close(about, exact, rtol=0, atol=0.05)
