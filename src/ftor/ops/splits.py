"""How the splits of a chart are laid out: one axis, all (i < j < k), narrow spans first.

Span (i, k) covers positions i..k−1. A split (i, j, k) cuts it into (i, j) and (j, k). Splits are ordered by
width k − i, then i, then j. So the splits of one width are one slice of the axis, and those of one span are
neighbours.
"""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor


def number_of_splits(L: int) -> int:
    """Number S of triples 0 ≤ i < j < k ≤ L."""
    return (L + 1) * L * (L - 1) // 6


def first_split(width: Any, L: int) -> Any:
    """The place of the first split of `width`: Σ (L+1−w)(w−1) over the smaller widths w.

    `width` is an integer or a tensor of integers; kernels compile this function for themselves.
    """
    below = width - 2
    return L * (below * (below + 1) // 2) - below * (below + 1) * (2 * below + 1) // 6


@lru_cache(maxsize=8)
def _table(L: int) -> tuple[Tensor, Tensor, Tensor]:
    with torch.inference_mode(False):  # tensors of that mode could not be used in training later
        start, split, end = ([torch.arange(0, device="cpu")] for _ in range(3))
        for width in range(2, L + 1):
            starts = torch.arange(L + 1 - width, device="cpu").repeat_interleave(width - 1)
            start.append(starts)
            split.append(starts + torch.arange(1, width, device="cpu").repeat(L + 1 - width))
            end.append(starts + width)
        return torch.cat(start), torch.cat(split), torch.cat(end)


def split_table(L: int, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor, Tensor]:
    """Start i, split point j and end k (S,) of every split, in order."""
    # torch.compile warns of what is cached, and traces into it anyway.
    start, split, end = _table.__wrapped__(L) if torch.compiler.is_compiling() else _table(L)
    return start.to(device), split.to(device), end.to(device)


def pack(scores: Tensor) -> Tensor:
    """Gather dense scores (B, L+1, L+1, L+1, 2), [b, i, j, k, op], into the packed layout (B, S, 2)."""
    posts = scores.shape[1]
    return scores.flatten(1, 3).index_select(1, _dense_places(posts, scores.device))


def unpack(packed: Tensor, L: int) -> Tensor:
    """Put packed scores (B, S, 2) back into the dense layout (B, L+1, L+1, L+1, 2), with 0 elsewhere."""
    posts = L + 1
    dense = packed.new_zeros(packed.shape[0], posts**3, 2)
    dense = dense.index_copy(1, _dense_places(posts, packed.device), packed)
    return dense.view(-1, posts, posts, posts, 2)


def place_of_split(start: Tensor, split: Tensor, end: Tensor, L: int) -> Tensor:
    """The places of splits (i, j, k) on the axis."""
    width = end - start
    place: Tensor = first_split(width, L) + start * (width - 1) + split - start - 1
    return place


def _dense_places(posts: int, device: torch.device) -> Tensor:
    start, split, end = split_table(posts - 1, device)
    return (start * posts + split) * posts + end
