"""Kernels as operators of torch, which `torch.compile` can trace, with a short way to the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op

_PLAIN = (torch.Tensor, torch.nn.Parameter)


class Operator:
    """A kernel that torch knows by its name.

    Torch's own way to an operator in Python takes longer than many kernels. So where nobody but autograd
    looks on, the kernel is called without it, and the results are the same.

    Args:
        name: with its namespace.
        compute: calls the kernel.

    Attributes:
        known: the operator as torch knows it.
    """

    def __init__(self, name: str, compute: Callable[..., Any]) -> None:
        self._name, self._compute = name, compute
        self.known = custom_op(name, compute, mutates_args=(), device_types="cpu")
        self._differentiable: Any = None
        self.register_fake = self.known.register_fake

    def register_autograd(
        self, backward: Callable[..., Any], *, setup_context: Callable[..., None] | None = None
    ) -> None:
        """Say how gradients are computed, as for `torch.library.custom_op`."""
        self.known.register_autograd(backward, setup_context=setup_context)
        compute = self._compute

        def forward(ctx: Any, *args: Any) -> Any:
            output = compute(*args)
            if setup_context is not None:
                setup_context(ctx, args, output)
            return output

        methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        self._differentiable = type(self._name, (torch.autograd.Function,), methods)

    def __call__(self, *args: Any) -> Any:
        """Run the kernel."""
        if torch.compiler.is_compiling() or _is_watched(args):
            return self.known(*args)
        if self._differentiable is None or not torch.is_grad_enabled() or not _requires_grad(args):
            return self._compute(*args)
        return self._differentiable.apply(*args)


def operator(name: str) -> Callable[[Callable[..., Any]], Operator]:
    """Make an operator of the function below. It imports its kernel when it first runs."""
    return lambda compute: Operator(name, compute)


def _requires_grad(args: tuple[Any, ...]) -> bool:
    return any(isinstance(value, Tensor) and value.requires_grad for value in args)


def _is_watched(args: tuple[Any, ...]) -> bool:
    """Whether something may want to see the operator: a mode, a tracer, or a tensor of another class."""
    return (
        torch._C._len_torch_dispatch_stack() > 0
        or torch._C._get_tracing_state() is not None
        or not all(type(value) in _PLAIN for value in args if isinstance(value, Tensor))
    )
