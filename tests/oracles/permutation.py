"""Every labelled binary tree over a short sequence: the slow, sure answer for separable permutations.

Independent of the library: a tree is a leaf's position or a triple (operation, left, right), operation 0 is
straight (∧) and 1 is inverted (△), and a distribution is a table with one line per tree.
"""

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import torch
from torch import Tensor

Tree = int | tuple[int, "Tree", "Tree"]
Node = tuple[int, int, int, int]

DISTINCT_PERMUTATIONS = (1, 2, 6, 22, 90, 394)
"""How many permutations of 1, 2, … elements are separable (the large Schröder numbers)."""


def count_trees(length: int) -> int:
    """How many trees with two labels have `length` leaves: 2^(n−1)·Catalan(n−1)."""
    inner = length - 1
    return 2**inner * comb(2 * inner, inner) // (inner + 1)


def all_trees(start: int, end: int) -> Iterator[Tree]:
    """Every tree over the positions start..end-1."""
    if end - start == 1:
        yield start
        return
    for split in range(start + 1, end):
        for left in all_trees(start, split):
            for right in all_trees(split, end):
                yield (0, left, right)
                yield (1, left, right)


def leaves(tree: Tree) -> list[int]:
    """The positions under a tree in the order of the input."""
    if isinstance(tree, int):
        return [tree]
    _, left, right = tree
    return leaves(left) + leaves(right)


def reordered(tree: Tree) -> list[int]:
    """The positions under a tree in the order of the output."""
    if isinstance(tree, int):
        return [tree]
    operation, left, right = tree
    if operation == 0:
        return reordered(left) + reordered(right)
    return reordered(right) + reordered(left)


def permutation(tree: Tree) -> tuple[int, ...]:
    """Where each input position goes: permutation[k] is the output position of k."""
    output = reordered(tree)
    return tuple(output.index(position) for position in range(len(output)))


def nodes(tree: Tree) -> list[Node]:
    """The inner nodes (i, j, k, operation) of a tree in preorder."""
    if isinstance(tree, int):
        return []
    operation, left, right = tree
    left_leaves, right_leaves = leaves(left), leaves(right)
    node = (left_leaves[0], right_leaves[0], right_leaves[-1] + 1, operation)
    return [node, *nodes(left), *nodes(right)]


def splits(length: int) -> list[tuple[int, int, int]]:
    """Every split (i, j, k) in the packed order: by width, then by start, then by split point."""
    return [
        (i, j, i + width)
        for width in range(2, length + 1)
        for i in range(length - width + 1)
        for j in range(i + 1, i + width)
    ]


def pack(dense: Tensor) -> Tensor:
    """Dense scores (B, L+1, L+1, L+1, 2) in the packed form (B, S, 2)."""
    i, j, k = torch.tensor(splits(dense.shape[1] - 1), dtype=torch.int64).reshape(-1, 3).unbind(1)
    return dense[:, i, j, k]


class Enumeration(NamedTuple):
    """The exact distribution over trees: a line per tree (T of them), and what follows from it."""

    trees: list[Tree]
    permutations: Tensor  # (T, l) int64
    tree_scores: Tensor  # (T,)
    probabilities: Tensor  # (T,)
    log_partition: Tensor  # ()
    marginals: Tensor  # (l, l), [k, i] = P(position k moves to output i)
    entropy: Tensor  # ()


def enumerate_trees(scores: Tensor) -> Enumeration:
    """The distribution that dense scores (l+1, l+1, l+1, 2) define, differentiable in them; for l ≤ 7."""
    length = scores.shape[0] - 1
    trees = list(all_trees(0, length))
    index = torch.tensor([nodes(tree) for tree in trees], dtype=torch.int64).reshape(
        len(trees), length - 1, 4
    )
    tree_scores = scores[index[..., 0], index[..., 1], index[..., 2], index[..., 3]].sum(-1)
    log_partition = tree_scores.logsumexp(0)
    log_probabilities = tree_scores - log_partition
    probabilities = log_probabilities.exp()
    permutations = torch.tensor([permutation(tree) for tree in trees])
    one_hot = torch.nn.functional.one_hot(permutations, length).to(scores.dtype)
    return Enumeration(
        trees=trees,
        permutations=permutations,
        tree_scores=tree_scores,
        probabilities=probabilities,
        log_partition=log_partition,
        marginals=torch.einsum("t,tki->ki", probabilities, one_hot),
        entropy=-(probabilities * log_probabilities).sum(),
    )
