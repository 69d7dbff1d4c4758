"""Layers and a whole network under torch.compile and autocast, on the CPU."""

import shutil
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import device
from ftor.config import Config
from ftor.datasets.mirror import mirror
from ftor.model.model import Model
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from support import tiny

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:The .grad attribute of a Tensor:UserWarning"
    ),  # torch.compile reads it
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in torch itself
]


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    torch.compiler.reset()


@pytest.fixture
def step() -> Callable[..., list[Tensor]]:
    """Losses and gradients of a transducer on a batch, computed through a wrapped network."""
    torch.manual_seed(0)
    drawn = enumerate(mirror(6, [3, 4], seed=1), 1)
    pairs = [Pair(tuple(source.split()), tuple(target.split()), line) for line, (source, target) in drawn]
    overrides = [f"{name}={value}" for name, value in tiny.SETTINGS.items()]
    model = Model.new(Config.load("mirror", overrides), pairs)
    network = model.network.eval()
    batch = EncodedPairs(pairs, model.vocabularies).batch(torch.arange(len(pairs)))

    def run(wrap: Callable[[Any], Any]) -> list[Tensor]:
        losses = wrap(network)(batch)
        gradients = torch.autograd.grad(
            (losses.tokens + losses.length).sum(), list(network.parameters()), materialize_grads=True
        )
        return [losses.tokens.detach(), losses.length.detach(), *gradients]

    return run


@pytest.mark.parametrize("name", ["reordering", "fertility"])
def test_a_compiled_layer_gives_the_same(name):
    call = device.LAYERS[name](6)
    compiled = torch.compile(call, backend="aot_eager", fullgraph=False)
    torch.testing.assert_close(compiled(), call())


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_generated_code_gives_the_same():
    call = device.LAYERS["fertility"](6)
    torch.testing.assert_close(torch.compile(call, fullgraph=False)(), call())


def test_a_compiled_network_gives_the_same(step):
    compiled = step(lambda network: torch.compile(network, backend="aot_eager", fullgraph=False))
    torch.testing.assert_close(compiled, step(lambda network: network), rtol=1e-4, atol=1e-5)


def test_a_network_within_autocast_gives_about_the_same(step):
    exact = step(lambda network: network)
    with torch.autocast("cpu", torch.bfloat16):
        about = step(lambda network: network)
    for ours, theirs in zip(about[:2], exact[:2], strict=True):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.05)
    assert all(gradient.isfinite().all() for gradient in about[2:])
