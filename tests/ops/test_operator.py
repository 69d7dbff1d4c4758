"""Operators of torch: the short way and torch's own give the same, and whoever traces sees the operator."""

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from ftor.ops import permutation
from ftor.ops.splits import number_of_splits

L = 4


class Watcher(TorchDispatchMode):
    """Notes the names of the operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Note one, and run it."""
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.fixture
def scores() -> Tensor:
    """Give scores of two rows that want gradients."""
    return torch.randn(2, number_of_splits(L), 2, requires_grad=True)


def outputs(scores: Tensor) -> list[Tensor]:
    """The rules of two rows, and a gradient."""
    log_partition, rules = permutation.inside(scores, torch.tensor([L, 2]), L)
    (gradient,) = torch.autograd.grad(log_partition.sum() + rules.square().sum(), scores)
    return [log_partition.detach(), rules.detach(), gradient]


def test_both_ways_give_the_same_bits(scores: Tensor) -> None:
    short = outputs(scores)
    with Watcher() as watcher:
        known = outputs(scores)
    assert {"ftor.tree_inside.default", "ftor.tree_inside_backward.default"} <= set(watcher.seen)
    for one, other in zip(short, known, strict=True):
        assert torch.equal(one, other)


def test_results_without_gradients_have_no_graph(scores: Tensor) -> None:
    with torch.no_grad():
        assert not permutation.inside(scores, torch.tensor([L, L]), L)[1].requires_grad
    assert permutation.inside(scores, torch.tensor([L, L]), L)[1].requires_grad


def test_a_compiled_function_has_the_operator_in_its_graph(scores: Tensor) -> None:
    names: list[str] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> object:
        names.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    lengths = torch.tensor([L, 2])
    compiled = torch.compile(lambda x: permutation.inside(x, lengths, L)[1], backend=backend, fullgraph=True)
    assert torch.equal(compiled(scores.detach()), permutation.inside(scores.detach(), lengths, L)[1])
    assert any("tree_inside" in name for name in names)
