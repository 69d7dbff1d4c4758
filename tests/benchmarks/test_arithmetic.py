"""The floating-point work of a step, counted."""

import pytest
import torch

import arithmetic
import ftor.nn
import timing
from ftor.nn import HighwayBiLSTM


def test_products_are_counted():
    a = torch.randn(3, 4, requires_grad=True)
    forward_and_backward = lambda: (a @ torch.randn(4, 5)).sum().backward()  # noqa: E731
    assert arithmetic.operations(forward_and_backward) == 2 * (2 * 3 * 4 * 5)


def test_recurrences_are_counted():
    layer, H = HighwayBiLSTM(32, layers=1).eval(), 16
    x, lengths = torch.randn(2, 4, 32), torch.tensor([4, 2])
    with torch.no_grad():
        count = arithmetic.operations(lambda: layer(x, lengths))
    steps, projections = 6 * 2 * 10 * H * H, 6 * 2 * 2 * 32 * 6 * H
    assert steps <= count <= steps + projections * 2


def test_scores_and_trees_are_counted():
    layer, lengths = ftor.nn.ReorderingLayer(16, hidden=32).eval(), torch.tensor([5, 3])
    with torch.no_grad():
        count = arithmetic.operations(lambda: layer(torch.randn(2, 5, 16), lengths).marginals)
    splits, places = 20 + 4, 35 + 5
    assert count >= splits * 32 * 6 + places * 4


def test_no_epoch_is_timed_if_plain_torch_trains_otherwise(monkeypatch):
    monkeypatch.setattr(timing, "ALLOWED_DIFFERENCE", -1.0)
    monkeypatch.setattr(arithmetic, "beside_products", lambda parts: pytest.fail("timed"))
    with pytest.raises(SystemExit, match="mirror, a step: outputs or gradients differ"):
        arithmetic.epoch("mirror", 8)
