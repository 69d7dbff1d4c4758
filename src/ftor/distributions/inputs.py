"""What the distributions do with their inputs: checks, precision and random numbers."""

import torch
from torch import Tensor

from ftor.ops.dispatch import reads_values


def checks_values(validate_args: bool | None, tensor: Tensor) -> bool:
    """The meaning of `validate_args` for a distribution over `tensor`.

    None is True on the CPU. It is False on other devices, where a check would wait for the values, and in
    compiled code, where it would break the graph. The default of torch.distributions will not do: the first
    call of torch.compile turns it off everywhere.
    """
    if validate_args is not None:
        return validate_args
    return __debug__ and not torch.compiler.is_compiling() and reads_values(tensor)


def at_least_float32(tensor: Tensor) -> Tensor:
    """Raise float16 and bfloat16 to float32. Whatever is not a tensor is refused later, by its name."""
    half = isinstance(tensor, Tensor) and tensor.dtype in (torch.float16, torch.bfloat16)
    return tensor.float() if half else tensor


def uniforms(shape: torch.Size, device: torch.device, generator: torch.Generator | None) -> Tensor:
    """Numbers in [0, 1), in steps small enough for events of any probability that float64 can tell from 0."""
    dtype = torch.float32 if device.type == "mps" else torch.float64
    return torch.rand(shape, generator=generator, dtype=dtype, device=device)


def random_seed(generator: torch.Generator | None) -> int:
    """A seed for dropout."""
    device = generator.device if generator is not None else "cpu"
    return int(torch.randint(2**63 - 1, (), generator=generator, device=device))
