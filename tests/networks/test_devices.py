"""What a transducer does on other devices than the CPU: the same, without looking at values."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch.testing import assert_close

import device
from ftor import Fertility, SeparablePermutation
from ftor.networks.transducer import Transducer
from ftor.nn import BiLSTM, HighwayBiLSTM
from ftor.ops import implementation
from support.small_networks import DECODERS, ORDERS, PAIRS, transducer, whole_batch

VARIANTS = pytest.mark.parametrize(
    ("order", "decoder", "encoder"), list(product(ORDERS, DECODERS, ("highway", "plain")))
)


def made(order, decoder, encoder):
    """A network, and a batch whose sources and targets have different lengths, with alignments to learn."""
    network, vocabularies = transducer(order, decoder, True, encoder=encoder)
    batch = whole_batch(vocabularies, PAIRS)
    aligned = torch.zeros_like(batch.copyable)
    aligned[:, 0, 0] = True
    return network, replace(batch, aligned=aligned, aligns_fertilities=True)


def step(network, batch):
    """The loss terms and all gradients."""
    losses = network(batch)
    sum(losses).sum().backward()
    return [*losses, *(parameter.grad for parameter in network.parameters() if parameter.grad is not None)]


@VARIANTS
def test_a_step_is_the_same_without_looking_at_values(order, decoder, encoder):
    network, batch = made(order, decoder, encoder)
    expected = step(network, batch)
    network.zero_grad()
    with implementation("device"), device.Waits(refuse=True):
        actual = step(network, batch)
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected, strict=True):
        assert_close(ours, theirs)


@VARIANTS
def test_a_step_with_dropout_needs_no_values(order, decoder, encoder):
    network, batch = made(order, decoder, encoder)
    here = step(network.train(), batch)
    meta = step(network.to("meta"), batch.to(torch.device("meta")))
    assert [(each.shape, each.device.type) for each in meta] == [(each.shape, "meta") for each in here]


def test_emphasised_words_are_the_same_without_looking_at_values():
    network, batch = made("fertility-reordering", "independent", "highway")
    emphasising = Transducer(network.config, network.embedding.num_embeddings, network.classes, emphasis=True)
    emphasised = torch.randint(2, batch.source.shape)
    emphasising, batch = emphasising.double().eval(), replace(batch, emphasised=emphasised)
    expected = emphasising(batch)
    with implementation("device"):
        assert_close(emphasising(batch), expected)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_stands_in_padding_reaches_no_gradient(bad):
    encoder, lengths = BiLSTM(4, layer_dropout=0), torch.tensor([3, 1])
    x = torch.randn(2, 3, 4)
    gradients = []
    for padding in (0.0, bad):
        encoder.zero_grad()
        inputs = x.clone()
        inputs[1, 1:] = padding
        with implementation("device"):
            encoder(inputs, lengths)[0].sum().backward()
        gradients.append([parameter.grad.clone() for parameter in encoder.parameters()])
    for ours, theirs in zip(*gradients, strict=True):
        assert_close(ours, theirs)


PUBLIC = {
    "fertility": lambda **options: Fertility(torch.zeros(1, 2, 3), torch.tensor([3]), **options),
    "reordering": lambda **options: SeparablePermutation(
        torch.zeros(1, 3, 3, 3, 2), torch.tensor([3]), **options
    ),
    "highway": lambda **options: HighwayBiLSTM(4, **options)(torch.zeros(1, 2, 4), torch.tensor([3])),
    "plain": lambda **options: BiLSTM(4, **options)(torch.zeros(1, 2, 4), torch.tensor([3])),
}


@pytest.mark.parametrize("call", PUBLIC.values(), ids=PUBLIC)
def test_wrong_lengths_are_named_on_the_cpu_and_elsewhere_if_asked(call):
    for place, options in (("auto", {}), ("torch", {}), ("device", {"validate_args": True})):
        with (
            implementation(place),
            pytest.raises(ValueError, match=r"engths: expected 1 to 2 .*found 3 in row 0"),
        ):
            call(**options)
    with implementation("device"), device.Waits(refuse=True):
        call()
