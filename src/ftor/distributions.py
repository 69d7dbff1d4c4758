"""Distributions over fertilities and permutations: the public face of `ftor.ops`."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Self

import torch
from torch import Tensor

from ftor.ops import LOG_ZERO, fertility, permutation
from ftor.ops.check import check_device, check_floating, check_lengths, check_shape
from ftor.ops.span_scores import difference_scores, span_scores
from ftor.ops.splits import pack, split_table
from ftor.trees import Node, PermutationTree


class TopLengths(NamedTuple):
    """The most likely lengths of each row, best first."""

    log_probs: Tensor
    """(B, k)"""
    lengths: Tensor
    """(B, k) int64"""


class Fertility:
    """Independent fertilities of n tokens, P(f) = Π_i P(f_i), to be conditioned on their sum: the length.

    >>> logits = torch.tensor([[[0.0, 1.0, 0.0], [2.0, 0.0, 1.0]]])  # one sentence, n = 2, d = 2
    >>> fertility = Fertility(logits)
    >>> fertility.top_lengths(1).lengths
    tensor([[1]])
    >>> length = torch.tensor([3])
    >>> fertility.argmax(length)  # the first token once, the second twice
    tensor([[1, 2]])
    >>> fertility.marginals(length).shape  # which copy of which token is at which position
    torch.Size([1, 2, 3, 2])

    Args:
        logits: (B, n, d+1), floating point; P(f_i = r) is their softmax over r. A logit of -inf makes a
            fertility impossible. float16 and bfloat16 are computed, and returned, in float32.
        source_lengths: (B,) int64 in 1..n, the number of tokens in each row (default: n). The tokens after
            them are padding: their logits count for nothing and their fertility is 0.

    Lengths given to the methods are int64 (B,), from 0 to source_length·d. Log-probabilities of
    impossible events are LOG_ZERO (-1e30) instead of -inf, and have no gradient.
    """

    def __init__(self, logits: Tensor, source_lengths: Tensor | None = None) -> None:
        check_shape("logits", logits, ("B", "n", "d+1"))
        check_floating("logits", logits)
        self.batch, self.n, width = logits.shape
        self.d = width - 1
        if self.n < 1 or self.d < 1:
            raise ValueError(f"logits: expected n ≥ 1 and d ≥ 1 in (B, n, d+1), found {tuple(logits.shape)}")
        if source_lengths is None:
            source_lengths = torch.full((self.batch,), self.n, device=logits.device)
        else:
            check_lengths("source_lengths", source_lengths, "logits", logits, 1, self.n, "the n of logits")
        self.source_lengths = source_lengths
        self._log_p = _log_fertilities(logits, source_lengths)

    def __repr__(self) -> str:
        return (
            f"Fertility(batch={self.batch}, n={self.n}, d={self.d}, "
            f"dtype={self._log_p.dtype}, device={self._log_p.device})"
        )

    @cached_property
    def length_log_probs(self) -> Tensor:
        """The log P(f_1 + … + f_n = l) for every length l: (B, n·d+1)."""
        with torch.enable_grad():  # a first look within no_grad() must not cut later ones from the logits
            return fertility.length_log_probs(self._log_p, self.n * self.d)

    def take(self, rows: Tensor) -> Self:
        """The distributions of some rows (K,) of the batch."""
        taken = type(self).__new__(type(self))
        taken.batch, taken.n, taken.d = len(rows), self.n, self.d
        taken.source_lengths = None if self.source_lengths is None else self.source_lengths[rows]
        taken._log_p = self._log_p[rows]
        return taken

    def log_prob_length(self, lengths: Tensor) -> Tensor:
        """The log P(f_1 + … + f_n = length) of each row's length: (B,) → (B,)."""
        self._check_lengths(lengths)
        return fertility.log_prob_length(self._log_p, lengths)

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
        scores = torch.where(self._allowed_mask(allowed), self.length_log_probs, LOG_ZERO)
        log_probs, lengths = scores.sort(dim=1, descending=True, stable=True)
        impossible = log_probs[:, 0] <= LOG_ZERO
        if bool(impossible.any()):
            row = int(impossible.nonzero()[0])
            raise ValueError(
                f"allowed: expected a length of at least 1 with positive probability, found none in row {row}"
            )
        # Ranks past the end repeat the last, which is LOG_ZERO: length 0 is among the impossible.
        rank = torch.arange(k, device=lengths.device).clamp(max=self.n * self.d)
        log_probs, lengths = log_probs[:, rank], lengths[:, rank]
        return TopLengths(log_probs, torch.where(log_probs > LOG_ZERO, lengths, lengths[:, :1]))

    def marginals(self, lengths: Tensor) -> Tensor:
        """F̃[b,i,j,u-1] = P(intermediate token j is the u-th copy of token i | length): the paper's section 5.

        Args:
            lengths: (B,).

        Returns:
            (B, n, L, d) with L the greatest length; exactly 0 at padding, past each row's length, and in rows
            whose length has probability 0.
        """
        return fertility.marginals(self._log_p, lengths, self._check_lengths(lengths))

    def argmax(self, lengths: Tensor | None = None) -> Tensor:
        """The most likely fertilities (B, n); with lengths (B,), among those that add up to them."""
        self._check_possible(lengths)
        return fertility.argmax(self._log_p, lengths)

    def sample(self, lengths: Tensor | None = None, *, generator: torch.Generator | None = None) -> Tensor:
        """Fertilities (B, n) drawn from P(f), or from P(f | length) with lengths (B,)."""
        self._check_possible(lengths)
        uniforms = _uniforms(self.batch, self.n, self._log_p.device, generator)
        return fertility.sample(self._log_p, lengths, uniforms)

    def _check_lengths(self, lengths: Tensor) -> int:
        """Refuse lengths that the row's tokens cannot reach; return the greatest."""
        reach = self.source_lengths * self.d
        check_lengths("lengths", lengths, "logits", self._log_p, 0, reach, "source_length · d")
        return max(lengths.tolist(), default=0)

    def _check_possible(self, lengths: Tensor | None) -> None:
        if lengths is None:
            return
        with torch.no_grad():
            impossible = self.log_prob_length(lengths) <= LOG_ZERO
        if bool(impossible.any()):
            row = int(impossible.nonzero()[0])
            raise ValueError(
                f"lengths: expected lengths with positive probability, "
                f"found {int(lengths[row])} with probability 0 in row {row}"
            )

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
        check_shape("allowed", allowed, (self.batch, len(lengths)) if allowed.dim() == 2 else (len(lengths),))
        check_device("allowed", allowed, "logits", self._log_p)
        return positive & allowed


def _log_fertilities(logits: Tensor, source_lengths: Tensor) -> Tensor:
    """The log P(f_i = r) (B, n, d+1), at least LOG_ZERO; padding has fertility 0 for sure."""
    logits = _at_least_float32(logits)
    padding = torch.arange(logits.shape[1], device=logits.device) >= source_lengths.unsqueeze(1)
    never = logits.new_full(logits.shape[2:], -torch.inf)
    never[0] = 0.0
    log_p = torch.where(padding.unsqueeze(-1), never, logits).log_softmax(-1)
    if bool(log_p.isnan().any()):
        row, token = log_p.isnan().any(-1).nonzero()[0].tolist()
        raise ValueError(
            f"logits: expected numbers or -inf, and a number in every token, "
            f"found {logits[row, token].tolist()} in row {row}, token {token}"
        )
    return log_p.clamp(min=LOG_ZERO)


class Reorderings(NamedTuple):
    """One tree per row, and its permutation."""

    trees: list[PermutationTree]
    permutations: Tensor
    """(B, L) int64, the output position of every position; 0 at padding"""


class SeparablePermutation:
    """Binary trees over l positions whose nodes keep (∧) or swap (△) their children, and their permutations.

    A tree's probability is proportional to exp(Σ of the scores of its splits). A permutation that several
    trees produce is counted once per tree: `entropy` and `argmax` are those of trees.

    >>> scores = torch.zeros(1, 4, 4, 4, 2)  # one sentence, L = 3
    >>> scores[0, 0, 1, 3, 1] = 9.0  # swap (0, 1) with (1, 3)
    >>> scores[0, 1, 2, 3, 0] = 9.0  # keep (1, 2) before (2, 3)
    >>> best = SeparablePermutation(scores, torch.tensor([3])).argmax
    >>> print(best.trees[0].format("abc"), best.trees[0].apply("abc"), best.permutations)
    (△ a (∧ b c)) ['b', 'c', 'a'] tensor([[2, 0, 1]])

    Args:
        scores: (B, L+1, L+1, L+1, 2), floating point, [b, i, j, k, (straight, inverted)] for cutting the span
            of positions i..k−1 at j; only i < j < k ≤ length are read. A score of -inf forbids a split; if it
            leaves no tree, `argmax` and `sample` refuse and the other results mean nothing.
            float16 and bfloat16 are computed, and returned, in float32.
        lengths: (B,) int64 in 1..L.
    """

    def __init__(self, scores: Tensor, lengths: Tensor) -> None:
        check_shape("scores", scores, ("B", "L+1", "L+1", "L+1", 2))
        check_floating("scores", scores)
        posts = scores.shape[1]
        if posts < 2 or scores.shape[1:4] != (posts, posts, posts):
            raise ValueError(f"scores: expected shape (B, L+1, L+1, L+1, 2), found {tuple(scores.shape)}")
        check_lengths("lengths", lengths, "scores", scores, 1, posts - 1, "the L of scores")
        self.batch, self.L, self.lengths = scores.shape[0], posts - 1, lengths.clone()
        self._scores = pack(_at_least_float32(scores)).clamp(min=LOG_ZERO)
        self._check_scores()

    @classmethod
    def from_fence_posts(
        cls,
        start: Tensor,
        split: Tensor,
        end: Tensor,
        weight: Tensor,
        bias: Tensor,
        lengths: Tensor,
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Self:
        """Score every split by weight · dropout(relu(start_i + split_j + end_k)) + bias, in one fused kernel.

        Args:
            start, split, end: (B, L+1, H), projections of the L+1 fence posts between and around positions.
            weight: (2, H), for straight and inverted.
            bias: (2,).
            lengths: (B,) int64 in 1..L.
            dropout: probability of dropping each hidden unit of each split; for training.
            seed: decides which units are dropped; drawn from `generator` if not given.
            generator: torch's own by default.
        """
        seed = _drawn_seed(generator) if seed is None and dropout else seed or 0
        start, split, end, weight, bias = map(_at_least_float32, (start, split, end, weight, bias))
        scores = span_scores(start, split, end, weight, bias, lengths, dropout, seed)
        return cls._from_packed(scores, start.shape[1] - 1, lengths)

    @classmethod
    def from_differences(
        cls,
        left: Tensor,
        right: Tensor,
        shift: Tensor,
        weight: Tensor,
        bias: Tensor,
        lengths: Tensor,
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Self:
        """Score splits by hidden units (left_j − left_i) + (right_k − right_j) + shift, linear in spans.

        The same as `from_fence_posts(-left, shift + left - right, right, …)`, in less time.

        Args:
            left, right: (B, L+1, H), the fence posts projected by the weights of the left and the right part.
            shift: (H,), the hidden layer's bias.
        """
        seed = _drawn_seed(generator) if seed is None and dropout else seed or 0
        left, right, shift, weight, bias = map(_at_least_float32, (left, right, shift, weight, bias))
        scores = difference_scores(left, right, shift, weight, bias, lengths, dropout, seed)
        return cls._from_packed(scores, left.shape[1] - 1, lengths)

    @classmethod
    def _from_packed(cls, scores: Tensor, L: int, lengths: Tensor) -> Self:
        made = cls.__new__(cls)
        made.batch, made.L, made.lengths, made._scores = scores.shape[0], L, lengths.clone(), scores
        return made

    def __repr__(self) -> str:
        return (
            f"SeparablePermutation(batch={self.batch}, L={self.L}, "
            f"dtype={self._scores.dtype}, device={self._scores.device})"
        )

    def take(self, rows: Tensor) -> Self:
        """The distributions of some rows (K,) of the batch."""
        return self._from_packed(self._scores[rows], self.L, self.lengths[rows])

    def _check_scores(self) -> None:
        start, split, end = split_table(self.L, self._scores.device)
        is_number = self._scores < torch.inf  # NaN is not less than anything
        wrong = ~is_number & (end <= self.lengths[:, None])[..., None]
        if bool(wrong.any()):
            row, at, op = wrong.nonzero()[0].tolist()
            where = [row, int(start[at]), int(split[at]), int(end[at]), op]
            raise ValueError(
                f"scores: expected numbers or -inf, found {float(self._scores[row, at, op])} at {where}"
            )

    def _check_possible(self) -> None:
        possible = self.log_partition > LOG_ZERO / 2
        if not bool(possible.all()):
            row = int((~possible).nonzero()[0])
            found = "NaN" if self.log_partition[row].isnan() else "none"
            raise ValueError(f"scores: expected a tree without a forbidden split, found {found} in row {row}")

    @cached_property
    def _inside(self) -> tuple[Tensor, Tensor]:
        """Log partition (B,) and rule probabilities (B, S, 2)."""
        with torch.enable_grad():  # as for Fertility.length_log_probs
            return permutation.inside(self._scores, self.lengths, self.L)

    @property
    def log_partition(self) -> Tensor:
        """Log Σ exp(score of the tree) over all trees: (B,)."""
        return self._inside[0]

    @cached_property
    def marginals(self) -> Tensor:
        """R̃[b,k,i] = P(position k moves to output i), the expected permutation: (B, L, L), 0 at padding."""
        with torch.enable_grad():
            return permutation.expected_permutation(self._inside[1], self.lengths, self.L)

    @cached_property
    def entropy(self) -> Tensor:
        """Entropy of the distribution over trees, in nats: (B,)."""
        with torch.enable_grad():
            return permutation.entropy(self._inside[1], self.lengths, self.L)

    @cached_property
    def argmax(self) -> Reorderings:
        """The most likely tree of each row, and its permutation."""
        self._check_possible()
        return self._reorderings(permutation.best_tree(self._scores, self.lengths, self.L))

    def sample(self, *, generator: torch.Generator | None = None) -> Reorderings:
        """One tree per row, drawn from the distribution, and its permutation."""
        self._check_possible()
        uniforms = _uniforms(self.batch, max(self.L - 1, 1), self._scores.device, generator)
        return self._reorderings(permutation.sample_tree(self._inside[1], self.lengths, uniforms, self.L))

    def _reorderings(self, nodes: Tensor) -> Reorderings:
        """Wrap nodes (B, L−1, 4)."""
        trees = [
            PermutationTree(length, tuple(Node(*node) for node in row[: length - 1]))
            for length, row in zip(self.lengths.tolist(), nodes.tolist(), strict=True)
        ]
        padded = [tree.permutation + (0,) * (self.L - tree.length) for tree in trees]
        return Reorderings(
            trees, torch.tensor(padded, dtype=torch.int64, device=nodes.device).view(-1, self.L)
        )


def _at_least_float32(tensor: Tensor) -> Tensor:
    half = isinstance(tensor, Tensor) and tensor.dtype in (torch.float16, torch.bfloat16)
    return tensor.float() if half else tensor  # what is no tensor is refused, by name, where it is used


def _drawn_seed(generator: torch.Generator | None) -> int:
    device = generator.device if generator is not None else "cpu"
    return int(torch.randint(2**63 - 1, (), generator=generator, device=device))


def _uniforms(rows: int, columns: int, device: torch.device, generator: torch.Generator | None) -> Tensor:
    """Numbers in [0, 1), in steps small enough for events of any probability that float64 can tell from 0."""
    dtype = torch.float32 if device.type == "mps" else torch.float64
    return torch.rand(rows, columns, generator=generator, dtype=dtype, device=device)
