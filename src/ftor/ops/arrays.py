"""The type of numpy arrays, and how a tensor becomes one. Imports no torch: grammars are read without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

Array = np.ndarray[Any, Any]


def as_array(tensor: Tensor) -> Array:
    """View a CPU tensor as a contiguous array. Copy it only if it is not contiguous."""
    return tensor.detach().contiguous().numpy()
