"""`FertilityLayer`: it computes what the published layer computes, with the same parameters."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from ftor.nn import FertilityLayer

SOURCE_LENGTHS = torch.tensor([5, 1, 3])


def tokens(n=5, dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(3, n, 10, generator=generator, dtype=torch.float64).to(dtype)


def layer(**options):
    torch.manual_seed(0)
    return FertilityLayer(10, **{"max_fertility": 3, "hidden": 7, "dropout": 0.0, **options}).double()


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_one_token_has_the_fertilities_of_the_published_network(temperature):
    module, x = layer(temperature=temperature), tokens(n=1)
    weight_in, bias_in, weight_out, bias_out = module.parameters()
    logits = F.elu(x[:, 0] @ weight_in.T + bias_in) @ weight_out.T + bias_out
    assert_close(module(x).length_log_probs, (logits / temperature).log_softmax(-1))


def test_parameters_have_the_published_sizes():
    sizes = [tuple(parameter.shape) for parameter in FertilityLayer(200).parameters()]
    assert sizes == [(128, 200), (128,), (5, 128), (5,)]


@pytest.mark.usefixtures("both")
def test_garbage_in_the_padding_changes_nothing():
    module, clean = layer(), tokens()
    padding = torch.arange(5) >= SOURCE_LENGTHS[:, None]
    dirty = clean.masked_fill(padding[..., None], math.nan).requires_grad_()
    target_lengths = torch.tensor([6, 2, 4])
    found, expected = (module(x, SOURCE_LENGTHS).given(target_lengths).marginals for x in (dirty, clean))
    assert torch.equal(found, expected)
    assert not found[padding].any()
    gradients = torch.autograd.grad(found.square().sum(), [dirty, *module.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert not gradients[0][padding].any()


def test_dropout_only_while_training():
    module, x = layer(dropout=0.5), tokens()
    assert not torch.equal(module(x).length_log_probs, module(x).length_log_probs)
    module.eval()
    assert torch.equal(module(x).length_log_probs, layer()(x).length_log_probs)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"x.*10.*8"):
        layer()(torch.zeros(2, 5, 8, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"source_lengths.*5.*6 in row 0"):
        layer()(tokens(), torch.tensor([6, 1, 1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_fertility": 3.0}, "max_fertility: expected an integer of at least 1, found 3.0"),
        ({"dropout": 1.0}, "dropout: expected 0 ≤ dropout < 1, found 1.0"),
        ({"temperature": "1"}, "temperature: expected a positive number, found '1'"),
        ({"temperature": 0.0}, "temperature: expected a positive number, found 0.0"),
        ({"temperature": -1.0}, "temperature: expected a positive number, found -1.0"),
    ],
)
def test_wrong_sizes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        FertilityLayer(8, **options)
