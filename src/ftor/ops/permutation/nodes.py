"""What follows from the nodes of given trees, or from a given permutation, in plain torch on any device.

Nodes are (…, L−1, 4): (i, j, k, op) in preorder, −1 past the end of a tree. `lengths` are (…).
"""

import torch
from torch import Tensor

from ftor.ops.splits import place_of_split, split_table


def tree_scores(scores: Tensor, nodes: Tensor, L: int) -> Tensor:
    """The sum (S, B) of the packed `scores` (B, S', 2) of the `nodes` (S, B, L−1, 4) of trees."""
    start, split, end, op = nodes.clamp_min(0).unbind(-1)
    real = nodes[..., 0] >= 0
    places = torch.where(real, 2 * place_of_split(start, split, end, L) + op, 0)
    by_node = scores.flatten(1).expand(nodes.shape[0], -1, -1).gather(-1, places) if L > 1 else places
    return torch.where(real, by_node, 0).sum(-1) + scores[:, :0].sum((1, 2))  # in the graph even if L is 1


def permutations(nodes: Tensor, lengths: Tensor, L: int) -> Tensor:
    """The output position (…, L) of every position: 0 past each length.

    A node that swaps its parts moves the left one by the width of the right one, and the other way round.
    """
    start, split, end, op = (part[..., None] for part in nodes.unbind(-1))
    positions = torch.arange(L, device=nodes.device)
    in_left = (start <= positions) & (positions < split)
    in_right = (split <= positions) & (positions < end)
    moves = (op == 1) * (in_left * (end - split) - in_right * (split - start))
    return (positions + moves.sum(-2)) * (positions < lengths[..., None])


def are_trees(nodes: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Whether `nodes` are those of a tree of each length in preorder: (…) of bool.

    Preorder sorts spans by their start, and of equal starts the widest first. So the spans of the nodes have
    to be, in this order, the whole sequence and every part of a node that is wider than one position.
    """
    lengths = lengths.expand(nodes.shape[:-2])
    start, split, end, op = nodes.unbind(-1)
    real = torch.arange(nodes.shape[-2], device=nodes.device) < lengths[..., None] - 1
    if L == 1:
        return lengths == 1
    proper = (start >= 0) & (start < split) & (split < end) & (end <= lengths[..., None])
    proper = proper & (op >= 0) & (op <= 1)
    past = (L + 1) ** 2

    def key(low: Tensor, high: Tensor, there: Tensor) -> Tensor:
        return torch.where(there & (high - low > 1), low * (L + 1) + L - high, past)

    root = key(torch.zeros_like(lengths), lengths, lengths > 1)[..., None]
    parts = torch.cat([root, key(start, split, real), key(split, end, real)], -1).sort(-1).values
    keys = key(start, end, real)
    none_left = parts[..., L - 1] == past
    padded = (nodes == -1).all(-1) | real
    return (parts[..., : L - 1] == keys).all(-1) & none_left & (proper | ~real).all(-1) & padded.all(-1)


def splits_that_make(permutations: Tensor, L: int) -> Tensor:
    """Which splits and operations (B, S, 2) can be in a tree that makes a permutation (B, L).

    A straight split needs all outputs of its left part before those of the right one, an inverted split after
    them. A tree makes the permutation if all of its nodes are such.
    """
    positions = torch.arange(L, device=permutations.device)
    outputs = permutations[:, None, :]
    before = positions < positions[:, None]  # [i, x]: x is before position i
    highest = outputs.masked_fill(before, -1).cummax(-1).values  # [b, i, x] of positions i..x
    lowest = outputs.masked_fill(before, L).cummin(-1).values
    start, split, end = split_table(L, permutations.device)
    straight = highest[:, start, split - 1] < lowest[:, split, end - 1]
    inverted = lowest[:, start, split - 1] > highest[:, split, end - 1]
    return torch.stack([straight, inverted], -1)
