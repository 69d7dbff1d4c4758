"""How often each token is copied: independent fertilities, and the same fertilities given their sum."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import torch
from torch import Size, Tensor
from torch.distributions import constraints
from torch.distributions.utils import lazy_property

from ftor.distributions.fertility_vectors import FertilityConstraint, FertilityVectors
from ftor.distributions.inputs import at_least_float32, checks_values
from ftor.ops import LOG_ZERO
from ftor.ops import fertility as ops
from ftor.ops.check import check_device, check_floating, check_lengths, check_range, check_shape
from ftor.ops.dispatch import IMPOSSIBLE


class TopLengths(NamedTuple):
    """The most likely lengths of each row, best first."""

    log_probs: Tensor
    """(B, k)"""
    lengths: Tensor
    """(B, k) int64"""


class Fertility(FertilityVectors):
    """Independent fertilities of n tokens, P(f) = Π_i P(f_i). Their sum is the length of the output.

    >>> logits = torch.tensor([[[0.0, 1.0, 0.0], [2.0, 0.0, 1.0]]])  # one sentence, n = 2, d = 2
    >>> fertility = Fertility(logits)
    >>> fertility.top_lengths(1).lengths
    tensor([[1]])
    >>> given = fertility.given(torch.tensor([3]))
    >>> given.argmax  # the first token once, the second twice
    tensor([[1, 2]])
    >>> given.marginals.shape  # which copy of which token is at which position
    torch.Size([1, 2, 3, 2])

    Args:
        logits: (B, n, d+1), floating point; P(f_i = r) is their softmax over r. A logit of -inf makes a
            fertility impossible. float16 and bfloat16 are computed, and returned, in float32.
        source_lengths: (B,) int64 in 1..n, the number of tokens in each row (default: n). The tokens after
            them are padding: their logits are not read and their fertility is 0.
        validate_args: whether to check values; by default on the CPU only, and not in code compiled by
            torch.compile. Shapes and dtypes are always checked.

    `marginals`, `argmax` and `entropy` are properties. Lengths given to the methods are int64 (B,), from 0 to
    source_length·d. Log-probabilities of impossible events are LOG_ZERO (-1e30) instead of -inf, and have no
    gradient.
    """

    # Which values are allowed depends on where the padding is, which this class checks itself.
    arg_constraints = {  # noqa: RUF012
        "logits": constraints.dependent(is_discrete=False, event_dim=2),
        "source_lengths": constraints.dependent(is_discrete=True, event_dim=0),
    }

    def __init__(
        self, logits: Tensor, source_lengths: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        check_shape("logits", logits, ("B", "n", "d+1"))
        check_floating("logits", logits)
        batch, self.n, width = logits.shape
        self.d = width - 1
        if self.n < 1 or self.d < 1:
            raise ValueError(f"logits: expected n ≥ 1 and d ≥ 1 in (B, n, d+1), found {tuple(logits.shape)}")
        super().__init__(Size([batch]), Size([self.n]), checks_values(validate_args, logits))
        if source_lengths is None:
            source_lengths = torch.full((batch,), self.n, device=logits.device)
        else:
            check_lengths("source_lengths", source_lengths, "logits", logits)
            if self._validate_args:
                check_range("source_lengths", source_lengths, 1, self.n, "the n of logits")
        self.logits, self.source_lengths = logits, source_lengths
        self._log_p = self._log_fertilities()

    def _log_fertilities(self) -> Tensor:
        """The log P(f_i = r) (B, n, d+1), at least LOG_ZERO; padding has fertility 0 for sure."""
        logits = at_least_float32(self.logits)
        never = logits.new_full(logits.shape[2:], -torch.inf)
        never[0] = 0.0
        log_p = torch.where(self._padding.unsqueeze(-1), never, logits).log_softmax(-1)
        if self._validate_args and bool(log_p.isnan().any()):
            row, token = log_p.isnan().any(-1).nonzero()[0].tolist()
            raise ValueError(
                f"logits: expected numbers or -inf, and a number in every token, "
                f"found {logits[row, token].tolist()} in row {row}, token {token}"
            )
        return log_p.clamp(min=LOG_ZERO)

    @property
    def _padding(self) -> Tensor:
        """(B, n)"""
        return torch.arange(self.n, device=self.logits.device) >= self.source_lengths.unsqueeze(1)

    @property
    def support(self) -> FertilityConstraint:  # type: ignore[override]
        """Vectors (B, n) of fertilities 0 to d, 0 at padding."""
        return FertilityConstraint(self.d, self.source_lengths)

    def expand(self, batch_shape: Any, _instance: object = None) -> Self:
        """The same distribution of each of B' rows, from B = 1 or B = B'; batches have one dimension."""
        return self._like(self.logits.expand(*batch_shape, -1, -1), self.source_lengths.expand(*batch_shape))

    def take(self, rows: Tensor) -> Self:
        """The distributions of some rows (K,) of the batch."""
        return self._like(self.logits[rows], self.source_lengths[rows])

    def _like(self, logits: Tensor, source_lengths: Tensor) -> Self:
        new = type(self)(logits, source_lengths, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def given(self, lengths: Tensor, max_length: int | None = None) -> "FertilityGivenLength":
        """The same fertilities given that those of each row add up to `lengths` (B,).

        Args:
            lengths: (B,) int64, 0 to source_length·d.
            max_length: L, the size of the third dimension of F̃; by default the greatest of the lengths.
        """
        return FertilityGivenLength(self, lengths, max_length, self._validate_args)

    @lazy_property
    def length_log_probs(self) -> Tensor:
        """The log P(f_1 + … + f_n = l) for every length l: (B, n·d+1)."""
        return ops.length_log_probs(self._log_p, self.n * self.d)

    def log_prob_length(self, lengths: Tensor) -> Tensor:
        """The log P(f_1 + … + f_n = length) of each row's length: (B,) → (B,)."""
        self._check_lengths(lengths)
        return ops.log_prob_length(self._log_p, lengths)

    def top_lengths(self, k: int, allowed: Tensor | Sequence[int] | None = None) -> TopLengths:
        """The k most likely lengths of each row, never 0, best first; of equally likely ones the shortest.

        Args:
            k: how many; where fewer are possible, the best length is repeated with log-probability LOG_ZERO.
            allowed: which lengths may be chosen: a bool mask (n·d+1,) or (B, n·d+1), or the lengths
                themselves (those outside 1..n·d are ignored).

        Returns:
            log_probs (B, k) and lengths (B, k); the log-probabilities are not renormalised to `allowed`.
        """
        if not isinstance(k, int) or k < 1:
            raise ValueError(f"k: expected an integer of at least 1, found {k}")
        mask = self._allowed_mask(allowed)
        return most_likely_lengths(self.length_log_probs, k, mask, bool(self._validate_args))

    @property
    def marginals(self) -> Tensor:
        """P(f_i = r): (B, n, d+1), 0 at padding."""
        return self._log_p.exp().masked_fill(self._padding.unsqueeze(-1), 0)

    @property
    def argmax(self) -> Tensor:
        """The most likely fertilities: (B, n) int64."""
        return self._log_p.argmax(-1)

    @property
    def entropy(self) -> Tensor:  # type: ignore[override]
        """The entropy of the fertility vector in nats: (B,). A property, unlike in torch.distributions."""
        return -(self._log_p.exp() * self._log_p).sum((1, 2))

    def sample(self, sample_shape: Any = (), *, generator: torch.Generator | None = None) -> Tensor:
        """Fertilities drawn from P(f): (*sample_shape, B, n) int64."""
        return self._draw(None, sample_shape, generator)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log P(f) of fertilities (…, B, n): (…, B)."""
        return self._log_prob(self._checked_value(value))

    def _check_lengths(self, lengths: Tensor) -> None:
        check_lengths("lengths", lengths, "logits", self._log_p)
        if self._validate_args:
            check_range("lengths", lengths, 0, self.source_lengths * self.d, "source_length · d")

    def _allowed_mask(self, allowed: Tensor | Sequence[int] | None) -> Tensor:
        """(n·d+1,) or (B, n·d+1): which lengths may be chosen; never 0."""
        lengths = torch.arange(self.n * self.d + 1, device=self._log_p.device)
        positive = lengths > 0
        if allowed is None:
            return positive
        if not isinstance(allowed, Tensor):
            listed = list(allowed)
            allowed = torch.tensor(listed, dtype=None if listed else torch.int64, device=lengths.device)
        if allowed.dtype in (torch.int32, torch.int64) and allowed.dim() == 1:
            return positive & torch.isin(lengths, allowed.to(lengths))
        if allowed.dtype != torch.bool:
            raise TypeError(f"allowed: expected a bool mask or integers (k,), found {allowed.dtype}")
        shape = (*self.batch_shape, len(lengths)) if allowed.dim() == 2 else (len(lengths),)
        check_shape("allowed", allowed, shape)
        check_device("allowed", allowed, "logits", self._log_p)
        return positive & allowed


def most_likely_lengths(log_probs: Tensor, k: int, allowed: Tensor, check: bool = True) -> TopLengths:
    """The k most likely lengths of each row, as `Fertility.top_lengths` gives them.

    Args:
        log_probs: (B, M + 1) of each length.
        k: how many.
        allowed: (M + 1,) or (B, M + 1), which lengths may be chosen. 0 may not.
        check: whether to raise if a row has no such length.
    """
    scores = torch.where(allowed, log_probs, LOG_ZERO)
    log_probs, lengths = scores.sort(dim=1, descending=True, stable=True)
    if check and bool((impossible := log_probs[:, 0] <= LOG_ZERO).any()):
        row = int(impossible.nonzero()[0])
        raise ValueError(
            f"allowed: expected a length of at least 1 with positive probability, found none in row {row}"
        )
    # Ranks past the end repeat the last, which is LOG_ZERO: length 0 is among the impossible.
    rank = torch.arange(k, device=lengths.device).clamp(max=lengths.shape[1] - 1)
    log_probs, lengths = log_probs[:, rank], lengths[:, rank]
    return TopLengths(log_probs, torch.where(log_probs > LOG_ZERO, lengths, lengths[:, :1]))


class FertilityGivenLength(FertilityVectors):
    """Fertilities given their sum: P(f | f_1 + … + f_n = length). `Fertility.given` makes it.

    `marginals`, `argmax` and `entropy` are properties. `argmax` and `sample` raise a ValueError for lengths
    of probability 0; `marginals` and `entropy` are 0 there.

    Args:
        fertility: the distribution without the condition.
        lengths: (B,) int64, 0 to source_length·d.
        max_length: L, the size of the third dimension of F̃; by default the greatest of the lengths. Where
            that cannot be read, on the device "meta" and under `torch.func.vmap`, the default is n·d.
        validate_args: whether to check values; by default on the CPU only, and not in code compiled by
            torch.compile. Shapes and dtypes are always checked.
    """

    arg_constraints = {"lengths": constraints.dependent(is_discrete=True, event_dim=0)}  # noqa: RUF012

    def __init__(
        self,
        fertility: Fertility,
        lengths: Tensor,
        max_length: int | None = None,
        validate_args: bool | None = None,
    ) -> None:
        checks = checks_values(validate_args, fertility._log_p)
        super().__init__(fertility.batch_shape, fertility.event_shape, checks)
        fertility._check_lengths(lengths)
        self.fertility, self.lengths = fertility, lengths.clone()  # later changes must not matter
        self.n, self.d, self._log_p = fertility.n, fertility.d, fertility._log_p
        self._max_length = max_length

    @property
    def logits(self) -> Tensor:
        """(B, n, d+1), those of the fertilities without the condition."""
        return self.fertility.logits

    @property
    def source_lengths(self) -> Tensor:
        """(B,) int64, the number of tokens in each row."""
        return self.fertility.source_lengths

    @property
    def support(self) -> FertilityConstraint:  # type: ignore[override]
        """Vectors (B, n) of fertilities 0 to d that add up to the length of their row, 0 at padding."""
        return FertilityConstraint(self.d, self.source_lengths, self.lengths)

    @property
    def max_length(self) -> int:
        """L, the size of the third dimension of F̃."""
        longest = self._max_length
        return ops.longest(self._log_p, self.lengths) if longest is None else longest

    def expand(self, batch_shape: Any, _instance: object = None) -> Self:
        """The same distribution of each of B' rows, from B = 1 or B = B'; batches have one dimension."""
        return self._like(self.fertility.expand(batch_shape), self.lengths.expand(*batch_shape))

    def take(self, rows: Tensor) -> Self:
        """The distributions of some rows (K,) of the batch."""
        return self._like(self.fertility.take(rows), self.lengths[rows])

    def _like(self, fertility: Fertility, lengths: Tensor) -> Self:
        return type(self)(fertility, lengths, self._max_length, self._validate_args)

    @lazy_property
    def marginals(self) -> Tensor:
        """F̃[b,i,j,u-1] = P(intermediate token j is the u-th copy of token i | length): the paper's section 5.

        (B, n, L, d); exactly 0 at padding, past each row's length, and in rows whose length is impossible.
        """
        return ops.marginals(self._log_p, self.lengths, self.max_length)

    @property
    def argmax(self) -> Tensor:
        """The most likely fertilities among those that add up to the length: (B, n) int64."""
        self._check_possible()
        return ops.argmax(self._log_p, self.lengths)

    @property
    def entropy(self) -> Tensor:  # type: ignore[override]
        """The entropy of the fertility vector in nats: (B,). A property, unlike in torch.distributions."""
        return ops.entropy(self._log_p, self.lengths, self.max_length)

    def sample(self, sample_shape: Any = (), *, generator: torch.Generator | None = None) -> Tensor:
        """Fertilities drawn from P(f | length): (*sample_shape, B, n) int64."""
        self._check_possible()
        return self._draw(self.lengths, sample_shape, generator)

    def log_prob(self, value: Tensor) -> Tensor:
        """The log P(f | length) of fertilities (…, B, n): (…, B)."""
        joint = self._log_prob(self._checked_value(value))
        log_probs = ops.log_prob_length(self._log_p, self.lengths)
        possible = (joint > IMPOSSIBLE) & (log_probs > IMPOSSIBLE) & (value.sum(-1) == self.lengths)
        return torch.where(possible, joint - log_probs, LOG_ZERO)

    def _check_possible(self) -> None:
        if not self._validate_args:
            return
        with torch.no_grad():
            impossible = ops.log_prob_length(self._log_p, self.lengths) <= IMPOSSIBLE
        if bool(impossible.any()):
            row = int(impossible.nonzero()[0])
            raise ValueError(
                f"lengths: expected lengths with positive probability, "
                f"found {int(self.lengths[row])} with probability 0 in row {row}"
            )
