"""Trees and permutations that a distribution over reorderings gives."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ftor.trees import Node, PermutationTree


@dataclass(frozen=True)
class Reorderings:
    """Trees and their permutations, one per row, or as many as there are samples of each row.

    Attributes:
        nodes: (…, B, L−1, 4) int64, the nodes (start, split, end, inverted) of each tree in preorder, −1 past
            its end.
        permutations: (…, B, L) int64, the output position of every position; 0 at padding.
        lengths: (B,) int64.
    """

    nodes: Tensor
    permutations: Tensor
    lengths: Tensor

    @property
    def trees(self) -> list[Any]:
        """The trees as `PermutationTree`s: a list of B, or nested lists if there are several samples."""
        return _nested_trees(self.nodes.tolist(), self.nodes.dim() - 3, self.lengths.tolist())


def _nested_trees(nodes: list[Any], depth: int, lengths: list[int]) -> list[Any]:
    if depth:
        return [_nested_trees(part, depth - 1, lengths) for part in nodes]
    return [
        PermutationTree(length, tuple(Node(*node) for node in row[: length - 1]))
        for length, row in zip(lengths, nodes, strict=True)
    ]
