"""Distributions over fertilities and permutations: the public face of `ftor.ops`.

They are `torch.distributions.Distribution`s over discrete structures, with exact marginals that gradients
flow through. With `validate_args=False` no check reads the values of a tensor.
"""

from ftor.distributions.fertility import Fertility, FertilityGivenLength, TopLengths
from ftor.distributions.permutation import SeparablePermutation
from ftor.distributions.reorderings import Reorderings

__all__ = ["Fertility", "FertilityGivenLength", "Reorderings", "SeparablePermutation", "TopLengths"]
