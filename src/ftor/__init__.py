"""Sequence transduction that generalises: exact, fast fertility and reordering layers."""

from ftor import nn, ops
from ftor.distributions import Fertility, SeparablePermutation
from ftor.trees import PermutationTree

__all__ = ["Fertility", "PermutationTree", "SeparablePermutation", "nn", "ops"]
__version__ = "0.1.0"
