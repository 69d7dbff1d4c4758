"""Checks of arguments. Every error names the argument, what was expected and what was found.

Only `check_range` reads values. The other checks also work on meta tensors and under `torch.func.vmap`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def check_shape(name: str, tensor: Tensor, expected: Sequence[int | str]) -> None:
    """Raise if the shape of a tensor differs from `expected`, in which a string stands for any size."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name}: expected a tensor, found {type(tensor).__name__}")
    if not _agree(tensor.shape, expected):
        wanted = ", ".join(str(size) for size in expected) + "," * (len(expected) == 1)
        raise ValueError(f"{name}: expected shape ({wanted}), found {tuple(tensor.shape)}")


def _agree(shape: Sequence[int], expected: Sequence[int | str]) -> bool:
    if len(shape) != len(expected):
        return False
    for size, want in zip(shape, expected, strict=True):  # a loop, because `all` takes three times as long
        if size != want and not isinstance(want, str):
            return False
    return True


def check_floating(name: str, tensor: Tensor) -> None:
    """Raise if a tensor does not hold floating-point numbers."""
    if not tensor.is_floating_point():
        raise TypeError(f"{name}: expected a floating-point tensor, found {tensor.dtype}")


def check_size(name: str, size: int, least: int) -> None:
    """Raise if `size` is not an integer of at least `least`."""
    if not isinstance(size, int) or size < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, found {size!r}")


def check_dropout(dropout: float) -> None:
    """Raise if `dropout` is not a probability below 1."""
    if not isinstance(dropout, int | float) or not 0 <= dropout < 1:
        raise ValueError(f"dropout: expected 0 ≤ dropout < 1, found {dropout!r}")


def check_like(name: str, tensor: Tensor, other_name: str, other: Tensor) -> None:
    """Raise if a tensor has another dtype or device than `other`."""
    if tensor.dtype != other.dtype:
        raise TypeError(f"{name}: expected {other.dtype} like {other_name}, found {tensor.dtype}")
    check_device(name, tensor, other_name, other)


def check_device(name: str, tensor: Tensor, other_name: str, other: Tensor) -> None:
    """Raise if a tensor is on another device than `other`."""
    if tensor.device != other.device:
        raise ValueError(f"{name}: expected device {other.device} like {other_name}, found {tensor.device}")


def check_lengths(name: str, lengths: Tensor, other_name: str, other: Tensor) -> None:
    """Raise if lengths are not int64 (B,) on the device of `other` (B, …)."""
    check_shape(name, lengths, other.shape[:1])
    check_device(name, lengths, other_name, other)
    if lengths.dtype != torch.int64:
        raise TypeError(f"{name}: expected torch.int64, found {lengths.dtype}")


def check_range(name: str, lengths: Tensor, low: int, high: int | Tensor, why: str = "") -> None:
    """Raise unless `low` ≤ length ≤ `high` for all lengths (B,); `high` is one number or one per row."""
    if isinstance(high, int) and len(lengths):
        values = lengths.tolist()
        if low <= min(values) and max(values) <= high:
            return
    outside = (lengths < low) | (lengths > high)
    if bool(outside.any()):
        row = int(outside.nonzero()[0])
        top = int(high[row]) if isinstance(high, Tensor) else high
        because = f" ({why})" if why else ""
        raise ValueError(f"{name}: expected {low} to {top}{because}, found {int(lengths[row])} in row {row}")
