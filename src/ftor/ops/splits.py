"""How the splits of a chart are laid out: one axis, all (i < j < k), narrow spans first.

Span (i, k) covers positions i..k−1; a split (i, j, k) cuts it into (i, j) and (j, k). Ordered by
width k − i, then i, then j, the splits of one width are one slice of the axis and those of one span
lie side by side.
"""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor


def number_of_splits(L: int) -> int:
    """Number S of triples 0 ≤ i < j < k ≤ L."""
    return (L + 1) * L * (L - 1) // 6


def first_split(width: Any, L: int) -> Any:
    """Where the splits of `width` begin: Σ (L+1−w)(w−1) over the smaller widths w.

    `width` is an integer or a tensor of integers; kernels compile this function for themselves.
    """
    below = width - 2
    return L * (below * (below + 1) // 2) - below * (below + 1) * (2 * below + 1) // 6


@lru_cache(maxsize=8)
def _table(L: int) -> tuple[Tensor, Tensor, Tensor]:
    start, split, end = torch.combinations(torch.arange(L + 1, device="cpu"), 3).unbind(1)
    order = torch.argsort(((end - start) * (L + 1) + start) * (L + 1) + split)
    return start[order], split[order], end[order]


def split_table(L: int, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor, Tensor]:
    """Start i, split point j and end k (S,) of every split, in order."""
    start, split, end = _table(L)
    return start.to(device), split.to(device), end.to(device)


def pack(scores: Tensor) -> Tensor:
    """Gather dense scores (B, L+1, L+1, L+1, 2), [b, i, j, k, op], into the packed layout (B, S, 2)."""
    posts = scores.shape[1]
    start, split, end = split_table(posts - 1, scores.device)
    return scores.flatten(1, 3).index_select(1, (start * posts + split) * posts + end)
