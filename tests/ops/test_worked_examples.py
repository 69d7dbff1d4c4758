"""The numbers that the READMEs of the operations work out by hand."""

import math

import pytest
import torch

import ftor
from ftor.ops.recurrence import highway_lstm
from ftor.ops.span_scores import span_scores


def test_permutation_of_three_positions():
    scores = torch.zeros(1, 4, 4, 4, 2, dtype=torch.double)
    scores[0, 0, 1, 3, 1] = math.log(3)
    permutation = ftor.SeparablePermutation(scores, torch.tensor([3]))
    by_hand = torch.tensor([[1 / 4, 1 / 6, 7 / 12], [1 / 3, 1 / 2, 1 / 6], [5 / 12, 1 / 3, 1 / 4]])
    torch.testing.assert_close(permutation.marginals[0], by_hand.double(), atol=1e-7, rtol=0)
    assert permutation.log_partition.item() == pytest.approx(math.log(12))
    assert str(permutation.argmax.trees[0]) in ("(△ 0 (∧ 1 2))", "(△ 0 (△ 1 2))")


def test_scores_of_one_split():
    start, split, end = (torch.full((1, 3, 2), 99.0).requires_grad_() for _ in range(3))
    with torch.no_grad():
        start[0, 0] = torch.tensor([1.0, -1.0])
        split[0, 1] = torch.tensor([0.5, 0.5])
        end[0, 2] = torch.tensor([0.5, -1.0])
    weight = torch.tensor([[2.0, 7.0], [-1.0, 7.0]], requires_grad=True)
    bias = torch.tensor([0.1, 0.2], requires_grad=True)
    scores = span_scores(start, split, end, weight, bias, torch.tensor([2]))
    torch.testing.assert_close(scores, torch.tensor([[[4.1, -1.8]]]))
    scores.backward(torch.tensor([[[1.0, 3.0]]]))
    for tensor, row in ((start, 0), (split, 1), (end, 2)):
        assert tensor.grad[0, row].tolist() == [-1, 0]
        assert tensor.grad.abs().sum() == 1
    assert weight.grad.tolist() == [[2, 0], [6, 0]]
    assert bias.grad.tolist() == [1, 3]


def test_highway_lstm_of_two_steps():
    projected = torch.zeros(1, 2, 1, 6, dtype=torch.double)
    projected[0, 0, 0, 5] = 4
    weight = torch.tensor([[[0.0], [0.0], [2.0], [0.0], [0.0]]], dtype=torch.double, requires_grad=True)
    bias, keep = torch.zeros(1, 5, dtype=torch.double), torch.full((1, 1, 1), 0.5, dtype=torch.double)
    projected.requires_grad_()
    states = highway_lstm(projected, weight, bias, torch.tensor([2]), keep)
    assert states.flatten().tolist() == pytest.approx([2, 0.111964], abs=1e-6)
    states[0, 1].sum().backward()
    assert weight.grad[0, 2].item() == pytest.approx(0.007060, abs=1e-6)
    assert projected.grad[0, 1, 0, 2].item() == pytest.approx(0.007060, abs=1e-6)
    assert projected.grad[0, 0, 0, 5].item() == pytest.approx(0.003530, abs=1e-6)
