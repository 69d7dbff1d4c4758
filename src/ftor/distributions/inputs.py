"""What the distributions do with their inputs: checks, precision and random numbers."""

import torch
from torch import Tensor


def checks_values(validate_args: bool | None) -> bool:
    """The meaning of `validate_args`: None is True, but not in compiled code, where it would break the graph.

    The default of torch.distributions will not do: the first call of torch.compile turns it off everywhere.
    """
    return __debug__ and not torch.compiler.is_compiling() if validate_args is None else validate_args


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
