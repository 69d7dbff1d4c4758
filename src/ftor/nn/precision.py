"""Parts of networks that keep their precision within autocast."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def without_autocast(tensor: Tensor) -> AbstractContextManager[object]:
    """Leave autocast on the device of `tensor`, if it has one. The device "meta" has none."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else nullcontext()
