"""Counter-based dropout: a seed decides which hidden units of which splits are dropped.

Unit h of split (i, j, k) in row b is kept iff, as a signed 32-bit number,

    key(b, left, i, j) · key(b, right, k, j) · unit(h)  >  threshold.

All factors are random and odd. So their product is uniform over the odd numbers, and products of different
splits or units look independent. A kernel multiplies two of the factors outside its inner loop. The inner
loop multiplies once and compares. Nothing is kept for the backward pass.
All functions work on Python integers, on int64 tensors and arrays, and in kernels.
"""

from typing import Any

WORD = 0xFFFFFFFF


def pair_key(row_key: Any, post: Any, j: Any) -> Any:
    """The odd key of a fence post and a split point in a row."""
    x = ((post * 0x10000 + j) * 0x9E3779B1 + row_key) & WORD
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & WORD
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & WORD
    return (x ^ (x >> 16)) | 1


def signed(x: Any) -> Any:
    """Read the low 32 bits as a signed number."""
    return ((x & WORD) ^ 0x80000000) - 0x80000000


def threshold(probability: float) -> int:
    """The largest signed 32-bit number at which a unit is dropped."""
    return max(round(probability * 2**32) - 1, 0) - 2**31


def make_keys(seed: int, rows: Any, units: Any) -> tuple[Any, Any, Any]:
    """Derive the left and right keys of `rows` 0..B−1, and those of `units` 0..H−1, from a 64-bit seed."""
    base = pair_key(seed & WORD, (seed >> 48) & 0xFFFF, (seed >> 32) & 0xFFFF)
    return pair_key(base, rows, 0), pair_key(base, rows, 1), pair_key(base, units, 2)
