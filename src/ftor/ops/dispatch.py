"""Which implementation of an operation runs: numba kernels on the CPU, plain torch everywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import Tensor  # grammars are read without torch, and import `ftor.ops`

LOG_ZERO = -1e30
"""The logarithm of an impossible event: finite, so that sums, masks and gradients stay finite too."""

Implementation = Literal["auto", "torch"]
_chosen: Implementation = "auto"  # a plain global: torch.compile watches it, and cannot read a ContextVar


@contextmanager
def implementation(name: Implementation) -> Iterator[None]:
    """Choose the implementation for a block of code: `"auto"` (the default) or `"torch"` for plain torch.

    The choice holds for every thread of the process while the block runs.
    Plain torch is differentiable any number of times; the kernels are differentiable once.
    """
    global _chosen
    if name not in ("auto", "torch"):
        raise ValueError(f"implementation: expected 'auto' or 'torch', found {name!r}")
    before, _chosen = _chosen, name
    try:
        yield
    finally:
        _chosen = before


def runs_on_kernels(tensor: Tensor) -> bool:
    """Whether `tensor` goes to the numba kernels (CPU, float32 or float64) or to plain torch."""
    single_or_double = tensor.is_floating_point() and tensor.element_size() >= 4
    return _chosen == "auto" and tensor.device.type == "cpu" and single_or_double


def refuse_second_backward(ctx: Any, *grads: Tensor) -> None:
    """Stand in for the derivative of a kernel's backward pass."""
    raise RuntimeError(
        "ftor's kernels are differentiable once: for higher derivatives compute within "
        "ftor.ops.implementation('torch')"
    )
