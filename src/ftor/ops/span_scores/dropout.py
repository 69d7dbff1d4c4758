"""Counter-based dropout: which hidden units of which splits are dropped, from a seed alone.

Unit h of split (i, j, k) in row b is kept iff, as a signed 32-bit number,

    key(b, left, i, j) · unit(left, h) + key(b, right, k, j) · unit(right, h)  >  threshold.

The keys are random and those of units odd, so that each sum is uniform and any two units or splits are
independent of each other. The products belong to pairs of fence posts, so that a kernel's inner loop,
which runs over triples, only adds and compares, and nothing is kept for the backward pass.
All functions work on Python integers, int64 tensors and, compiled, on int64 alike.
"""

from typing import Any

import torch
from torch import Tensor

WORD = 0xFFFFFFFF


def mix(x: Any) -> Any:
    """Scramble the low 32 bits of a number, so that every bit depends on every bit."""
    x = x & WORD
    x = x ^ (x >> 16)
    x = (x * 0x85EBCA6B) & WORD
    x = x ^ (x >> 13)
    x = (x * 0xC2B2AE35) & WORD
    return x ^ (x >> 16)


def counter(post: Any, j: Any) -> Any:
    """A different 32-bit number for every pair of a fence post and a split point, scattered widely."""
    return (post * 0x10000 + j) * 0x9E3779B1


def signed(x: Any) -> Any:
    """Read the low 32 bits as a signed number."""
    return ((x & WORD) ^ 0x80000000) - 0x80000000


def threshold(probability: float) -> int:
    """The largest signed 32-bit number at which a unit is dropped."""
    return round(probability * 2**32) - 2**31 - 1


def make_keys(seed: int, B: int, H: int, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """Derive the keys of rows (2, B) and units (2, H), int64 in 0..2³²−1, from a seed of up to 64 bits.

    The first dimension is left and right.
    """
    base = mix(seed ^ mix(seed >> 32))
    sides = torch.arange(2, device=device)[:, None]
    rows = mix(mix(torch.arange(1, B + 1, device=device)) ^ mix(base + sides))
    units = mix(mix(torch.arange(1, H + 1, device=device)) ^ mix(base + 2 + sides))
    return rows, units | 1
