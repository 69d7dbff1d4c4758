"""What the distributions over fertility vectors share."""

from collections.abc import Sequence

import torch
from torch import Size, Tensor
from torch.distributions import Distribution, constraints

from ftor.distributions.inputs import uniforms
from ftor.ops import LOG_ZERO
from ftor.ops import fertility as ops
from ftor.ops.check import check_device
from ftor.ops.dispatch import IMPOSSIBLE


class FertilityConstraint(constraints.Constraint):
    """Fertility vectors (…, B, n): 0 to d, 0 at padding; with `lengths` (B,), those that add up to them."""

    is_discrete = True
    event_dim = 1

    def __init__(self, d: int, source_lengths: Tensor, lengths: Tensor | None = None) -> None:
        self.d, self.source_lengths, self.lengths = d, source_lengths, lengths

    def check(self, value: Tensor) -> Tensor:
        """Whether each vector is possible: (…, B) of bool."""
        padding = torch.arange(value.shape[-1], device=value.device) >= self.source_lengths[:, None]
        inside = ((value >= 0) & (value <= self.d) & ~(padding & (value != 0))).all(-1)
        return inside if self.lengths is None else inside & (value.sum(-1) == self.lengths)


class FertilityVectors(Distribution):
    """What both distributions over fertility vectors share."""

    _log_p: Tensor
    n: int
    d: int
    support: FertilityConstraint

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(batch={self.batch_shape[0]}, n={self.n}, d={self.d}, "
            f"dtype={self._log_p.dtype}, device={self._log_p.device})"
        )

    def _checked_value(self, value: Tensor) -> Tensor:
        """As (…, B, n), once it is known to be in the support."""
        if not isinstance(value, Tensor):
            raise TypeError(f"value: expected a tensor, found {type(value).__name__}")
        check_device("value", value, "logits", self._log_p)
        shape = (*self.batch_shape, *self.event_shape)
        if value.shape[-2:] != shape or value.is_floating_point():
            raise ValueError(
                f"value: expected integers of shape (…, {shape[0]}, {shape[1]}), "
                f"found {value.dtype} of shape {tuple(value.shape)}"
            )
        if self._validate_args:
            inside = self.support.check(value)
            if not bool(inside.all()):
                *_, row = place = inside.logical_not().nonzero()[0].tolist()
                sums = "" if self.support.lengths is None else f" that add up to {self.support.lengths[row]}"
                raise ValueError(
                    f"value: expected fertilities 0 to {self.d}{sums}, with 0 at padding, "
                    f"found {value[tuple(place)].tolist()} in row {row}"
                )
        return value

    def _log_prob(self, value: Tensor) -> Tensor:
        """Σ_i log P(f_i), LOG_ZERO if that is impossible: (…, B, n) → (…, B)."""
        log_p = self._log_p.expand(*value.shape, self.d + 1).gather(-1, value.long()[..., None])
        total = log_p.squeeze(-1).sum(-1)
        return torch.where(total > IMPOSSIBLE, total, LOG_ZERO)

    def _draw(
        self, lengths: Tensor | None, sample_shape: Sequence[int], generator: torch.Generator | None
    ) -> Tensor:
        sample_shape = Size(sample_shape)
        shape = Size([sample_shape.numel(), *self.batch_shape, *self.event_shape])
        draws = ops.sample(self._log_p, lengths, uniforms(shape, self._log_p.device, generator))
        return draws.view(sample_shape + self.batch_shape + self.event_shape)
