"""`ReorderingLayer`: it computes what the published layer computes, with the same parameters."""

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from ftor.nn import ReorderingLayer
from oracles import published

LENGTHS = torch.tensor([9, 1, 4, 7])


def sequences(*, dtype=torch.float64, width=10, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(len(LENGTHS), 9, width, generator=generator, dtype=torch.float64).to(dtype)


def layer(*, dropout=0.0, hidden=None, width=10, dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    options = {} if hidden is None else {"hidden": hidden}
    return ReorderingLayer(width, dropout=dropout, **options).to(dtype)


def published_outputs(module, x, lengths):
    """What the published algorithm gives with the layer's own parameters."""
    mlp = nn.Sequential(module.hidden, nn.ReLU(), module.output)
    scores = published.published_scores(x, module.begin, module.end, mlp, lengths)
    rules = published.inside(scores, lengths)
    marginals = published.expected_permutation(rules.rules, lengths)
    return rules.log_partition, marginals, published.entropy(rules.rules, lengths)


def loss_of(outputs):
    log_partition, marginals, entropy = outputs
    weights = torch.linspace(-1, 1, marginals.shape[1] ** 2, dtype=marginals.dtype).view(marginals.shape[1:])
    return log_partition.sum() + (marginals * weights.sin()).sum() + entropy.square().sum()


def layer_outputs(module, x, lengths):
    distribution = module(x, lengths)
    return distribution.log_partition, distribution.marginals, distribution.entropy


class TestReorderingLayer:
    @pytest.mark.usefixtures("both")
    @pytest.mark.parametrize("hidden", [None, 7], ids=["default hidden", "hidden 7"])
    def test_agrees_with_the_published_algorithm(self, hidden):
        module, x = layer(hidden=hidden), sequences().requires_grad_()
        inputs = [x, *module.parameters()]
        ours, theirs = (f(module, x, LENGTHS) for f in (layer_outputs, published_outputs))
        for found, expected in zip(ours, theirs, strict=True):
            assert_close(found, expected, rtol=1e-9, atol=1e-10)
        found_gradients = torch.autograd.grad(loss_of(ours), inputs)
        expected_gradients = torch.autograd.grad(loss_of(theirs), inputs)
        for found, expected in zip(found_gradients, expected_gradients, strict=True):
            assert_close(found, expected, rtol=1e-8, atol=1e-9)

    @pytest.mark.usefixtures("both")
    def test_agrees_in_single_precision(self):
        module, x = layer(dtype=torch.float32, width=24), sequences(dtype=torch.float32, width=24)
        expected = published_outputs(module.double(), x.double(), LENGTHS)
        found = layer_outputs(module.float(), x, LENGTHS)
        for ours, theirs in zip(found, expected, strict=True):
            assert_close(ours, theirs.float(), rtol=1e-4, atol=1e-4)

    def test_parameters_have_the_published_sizes(self):
        sizes = {name: tuple(parameter.shape) for name, parameter in ReorderingLayer(200).named_parameters()}
        assert sizes == {
            "begin": (200,),
            "end": (200,),
            "hidden.weight": (800, 400),
            "hidden.bias": (800,),
            "output.weight": (2, 800),
            "output.bias": (2,),
        }

    @pytest.mark.usefixtures("both")
    def test_every_parameter_and_input_gets_a_gradient(self):
        module, x = layer(), sequences().requires_grad_()
        loss_of(layer_outputs(module, x, LENGTHS)).backward()
        for name, tensor in [("x", x), *module.named_parameters()]:
            assert tensor.grad is not None, name
            assert tensor.grad.isfinite().all(), name
            assert tensor.grad.any(), name

    @pytest.mark.usefixtures("both")
    def test_garbage_in_the_padding_changes_nothing(self):
        module, clean = layer(), sequences()
        padding = torch.arange(9) >= LENGTHS[:, None]
        dirty = clean.masked_fill(padding[..., None], math.nan).requires_grad_()
        found, expected = layer_outputs(module, dirty, LENGTHS), layer_outputs(module, clean, LENGTHS)
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours, theirs)
        gradients = torch.autograd.grad(loss_of(found), [dirty, *module.parameters()])
        assert all(gradient.isfinite().all() for gradient in gradients)
        assert not gradients[0][padding].any()

    def test_dropout_only_while_training(self):
        module, x = layer(dropout=0.5), sequences()
        assert not torch.equal(module(x, LENGTHS).marginals, module(x, LENGTHS).marginals)
        module.eval()
        assert torch.equal(module(x, LENGTHS).marginals, module(x, LENGTHS).marginals)
        assert torch.equal(module(x, LENGTHS).marginals, layer(dropout=0.0)(x, LENGTHS).marginals)

    def test_dropout_follows_the_global_seed(self):
        module, x = layer(dropout=0.5), sequences()
        torch.manual_seed(7)
        first = module(x, LENGTHS).marginals
        torch.manual_seed(7)
        assert torch.equal(first, module(x, LENGTHS).marginals)

    def test_state_survives_saving_and_loading(self):
        module, x = layer(), sequences()
        other = layer(seed=1)
        assert not torch.equal(module(x, LENGTHS).marginals, other(x, LENGTHS).marginals)
        other.load_state_dict(module.state_dict())
        assert torch.equal(module(x, LENGTHS).marginals, other(x, LENGTHS).marginals)

    @pytest.mark.parametrize(
        ("x", "lengths", "message"),
        [
            (torch.zeros(2, 5, 8), torch.tensor([5, 4]), r"x.*10.*8"),
            (torch.zeros(2, 5), torch.tensor([5, 4]), r"x.*found \(2, 5\)"),
            (torch.zeros(2, 5, 10), torch.tensor([5, 0]), r"lengths.*1 to 5.*0 in row 1"),
            (torch.zeros(2, 5, 10), torch.tensor([6, 1]), r"lengths.*1 to 5.*6 in row 0"),
            (torch.zeros(2, 5, 10), torch.tensor([5]), r"lengths.*\(2,\).*\(1,?\)"),
        ],
        ids=["another width", "no width", "length 0", "length beyond L", "lengths of another batch"],
    )
    def test_wrong_arguments_are_named(self, x, lengths, message):
        with pytest.raises(ValueError, match=message):
            layer(dtype=torch.float32)(x, lengths)

    def test_an_odd_width_is_refused(self):
        with pytest.raises(ValueError, match=r"width.*even.*7"):
            ReorderingLayer(7)


@pytest.mark.usefixtures("both")
def test_a_broken_model_is_not_hidden():
    layer = ReorderingLayer(8)
    with torch.no_grad():
        layer.hidden.weight.fill_(math.nan)
    reordering = layer(torch.randn(1, 4, 8), torch.tensor([4]))
    assert reordering.marginals.isnan().any()
    with pytest.raises(ValueError, match="found NaN in row 0"):
        _ = reordering.argmax


def test_later_changes_of_lengths_change_nothing():
    x, lengths = torch.randn(2, 5, 8), torch.tensor([5, 3])
    reordering = ReorderingLayer(8).eval()(x, lengths)
    lengths -= 1
    assert reordering.marginals[1].sum().item() == pytest.approx(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ReorderingLayer("8"), "width: expected an integer of at least 2, found '8'"),
        (lambda: ReorderingLayer(8, hidden=0), "hidden: expected an integer of at least 1, found 0"),
        (lambda: ReorderingLayer(8, dropout="a"), "dropout: expected 0 ≤ dropout < 1, found 'a'"),
    ],
)
def test_wrong_sizes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
