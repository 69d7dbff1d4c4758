"""Sequence transduction that generalises: exact, fast fertility and reordering layers."""

from pathlib import Path
from typing import TYPE_CHECKING

from ftor import nn, ops
from ftor.distributions import Fertility, SeparablePermutation
from ftor.trees import PermutationTree

if TYPE_CHECKING:
    from ftor.predict import Model

__all__ = ["Fertility", "PermutationTree", "SeparablePermutation", "load", "nn", "ops"]
__version__ = "0.1.0"


def load(folder: str | Path, device: str = "cpu") -> "Model":
    """Read a trained model from its folder: `ftor.load("runs/mirror-0").predict(["a b c"])[0].text`."""
    from ftor.predict import (
        Model,
    )  # here, because the layers alone need neither numba's compiler nor pydantic

    return Model.load(folder, device)
