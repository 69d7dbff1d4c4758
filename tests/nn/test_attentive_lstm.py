"""A layer that attends to the source, against the same layer step by step."""

import torch
from torch import nn

from ftor.nn.additive_attention import AdditiveAttention
from ftor.nn.attentive_lstm import attentive_lstm
from ftor.nn.padding import inside

B, N, L, H, D = 3, 4, 5, 6, 2


def by_steps(cell, attention, memory, begin, x):
    """The states, with autograd through every step."""
    values, keys, real = memory
    h, c = begin, torch.zeros_like(begin)
    states = []
    for one in x.unbind(1):
        attended = attention(h[:, None], keys, values, real).squeeze(1)
        h, c = cell(torch.cat([attended, one], -1), (h, c))
        states.append(h)
    return torch.stack(states, 1)


def layer():
    torch.manual_seed(0)
    cell, attention = nn.LSTMCell(H + D, H).double(), AdditiveAttention(H).double()
    values, keys = torch.randn(B, N, H).double(), torch.randn(B, N, H).double()
    begin, x = torch.randn(B, H).double(), torch.randn(B, L, D).double()
    inputs = [tensor.requires_grad_() for tensor in (values, keys, begin, x)]
    return cell, attention, inputs


def test_states_and_gradients_are_those_of_single_steps():
    cell, attention, inputs = layer()
    values, keys, begin, x = inputs
    memory = values, keys, inside(torch.tensor([4, 1, 3]), N)
    parameters = [*cell.parameters(), attention.query.weight, attention.score.weight, *inputs]
    weight = torch.randn(B, L, H).double()
    found, wanted = (function(cell, attention, memory, begin, x) for function in (attentive_lstm, by_steps))
    torch.testing.assert_close(found, wanted)
    gradients = [torch.autograd.grad((states * weight).sum(), parameters) for states in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_a_layer_of_one_step():
    cell, attention, (values, keys, begin, x) = layer()
    memory = values, keys, torch.ones(B, N, dtype=torch.bool)
    arguments = cell, attention, memory, begin, x[:, :1]
    torch.testing.assert_close(attentive_lstm(*arguments), by_steps(*arguments))


def test_without_gradients_the_states_are_the_same_and_nothing_is_kept(monkeypatch):
    cell, attention, (values, keys, begin, x) = layer()
    memory = values, keys, torch.ones(B, N, dtype=torch.bool)
    wanted = attentive_lstm(cell, attention, memory, begin, x)

    def keep(*_):
        raise AssertionError("nothing is to be kept")

    monkeypatch.setattr("torch.autograd.function.FunctionCtx.save_for_backward", keep)
    with torch.no_grad():
        torch.testing.assert_close(attentive_lstm(cell, attention, memory, begin, x), wanted)
