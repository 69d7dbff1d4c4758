"""Which implementation of an operation runs: numba kernels on the CPU, plain torch everywhere else.

On the CPU, Python looks at values where this helps: to check them, and to leave out padding. On other devices
it would have to wait for them, and does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import Tensor

LOG_ZERO = -1e30
"""The logarithm of an impossible event: finite, so that sums, masks and gradients stay finite too."""

IMPOSSIBLE = LOG_ZERO / 2
"""Log-probabilities up to here mean "never"; far below any real one, far above sums that contain LOG_ZERO."""

Implementation = Literal["auto", "torch", "device"]
_current: Implementation = "auto"  # a plain global: torch.compile watches it, and cannot read a ContextVar


@contextmanager
def implementation(name: Implementation) -> Iterator[None]:
    """Choose the implementation for a block of code.

    `"auto"` is the default, `"torch"` is plain torch, and `"device"` is plain torch as it runs on other
    devices than the CPU: it looks at no values.

    The choice holds for every thread of the process while the block runs.
    Plain torch is differentiable any number of times; the kernels are differentiable once.
    """
    global _current
    if name not in ("auto", "torch", "device"):
        raise ValueError(f"implementation: expected 'auto', 'torch' or 'device', found {name!r}")
    before, _current = _current, name
    try:
        yield
    finally:
        _current = before


def runs_on_kernels(tensor: Tensor) -> bool:
    """Whether `tensor` goes to the numba kernels (CPU, float32 or float64) or to plain torch.

    Within the transforms of `torch.func`, such as `vmap` and `hessian`, everything goes to plain torch.
    """
    import torch  # only here: grammars are read without torch, and import `ftor.ops`

    return (
        _current == "auto"
        and tensor.device.type == "cpu"
        and tensor.dtype in (torch.float32, torch.float64)
        and not torch._C._are_functorch_transforms_active()
    )


def reads_values(tensor: Tensor) -> bool:
    """Whether Python may look at the values of `tensor`: on the CPU, where it need not wait for them."""
    return _current != "device" and tensor.device.type == "cpu"


def refuse_second_backward(ctx: Any, *grads: Tensor) -> None:
    """Stand in for the derivative of a kernel's backward pass."""
    raise RuntimeError(
        "ftor's kernels are differentiable once: for higher derivatives compute within "
        "ftor.ops.implementation('torch')"
    )
