"""How tokens are reordered: trees of separable permutations."""

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Size, Tensor
from torch.distributions import Distribution, constraints
from torch.distributions.utils import lazy_property

from ftor.distributions.inputs import at_least_float32, checks_values, random_seed, uniforms
from ftor.distributions.reorderings import Reorderings
from ftor.ops import LOG_ZERO
from ftor.ops import permutation as ops
from ftor.ops.check import check_device, check_floating, check_lengths, check_range, check_shape
from ftor.ops.dispatch import IMPOSSIBLE
from ftor.ops.permutation import nodes as of_nodes
from ftor.ops.span_scores import difference_scores, span_scores
from ftor.ops.splits import pack, split_table, unpack
from ftor.trees import PermutationTree


class _Trees(constraints.Constraint):
    """Nodes (…, B, L−1, 4) of trees over as many positions as each row has."""

    is_discrete = True
    event_dim = 2

    def __init__(self, L: int, lengths: Tensor) -> None:
        self.L, self.lengths = L, lengths

    def check(self, value: Tensor) -> Tensor:
        """Whether they are: (…, B) of bool."""
        return of_nodes.are_trees(value, self.lengths, self.L)


class SeparablePermutation(Distribution):
    """Binary trees over l positions whose nodes keep (∧) or swap (△) their children, and their permutations.

    A tree's probability is proportional to exp(Σ of the scores of its splits). A permutation that several
    trees produce is counted once per tree: `entropy`, `argmax` and `log_prob` are those of trees.

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
        validate_args: whether to check values; by default on the CPU only, and not in code compiled by
            torch.compile. Shapes and dtypes are always checked.

    `marginals`, `argmax`, `log_partition` and `entropy` are properties. The event is a tree, given by its
    nodes (L−1, 4); see `Reorderings`.
    """

    # Which values are allowed depends on where the padding is, which this class checks itself.
    arg_constraints = {  # noqa: RUF012
        "scores": constraints.dependent(is_discrete=False, event_dim=4),
        "lengths": constraints.dependent(is_discrete=True, event_dim=0),
    }

    def __init__(self, scores: Tensor, lengths: Tensor, validate_args: bool | None = None) -> None:
        check_shape("scores", scores, ("B", "L+1", "L+1", "L+1", 2))
        check_floating("scores", scores)
        posts = scores.shape[1]
        if posts < 2 or scores.shape[1:4] != (posts, posts, posts):
            raise ValueError(f"scores: expected shape (B, L+1, L+1, L+1, 2), found {tuple(scores.shape)}")
        check_lengths("lengths", lengths, "scores", scores)
        packed = pack(at_least_float32(scores)).clamp(min=LOG_ZERO)
        self._set(packed, posts - 1, lengths, "scores", validate_args)
        self.scores = scores
        self._check_scores()

    def _set(self, packed: Tensor, L: int, lengths: Tensor, name: str, validate_args: bool | None) -> None:
        checks = checks_values(validate_args, packed)
        super().__init__(Size([packed.shape[0]]), Size([L - 1, 4]), checks)
        if self._validate_args:
            check_range("lengths", lengths, 1, L, f"the L of {name}")
        self._packed, self.L, self.lengths = packed, L, lengths.clone()  # later changes must not matter

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
        validate_args: bool | None = None,
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
            validate_args: as for the class.
        """
        seed = random_seed(generator) if seed is None and dropout else seed or 0
        start, split, end, weight, bias = map(at_least_float32, (start, split, end, weight, bias))
        packed = span_scores(start, split, end, weight, bias, lengths, dropout, seed)
        return cls._from_packed(packed, start.shape[1] - 1, lengths, "start", validate_args)

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
        validate_args: bool | None = None,
    ) -> Self:
        """Score splits by hidden units (left_j − left_i) + (right_k − right_j) + shift, linear in spans.

        The same as `from_fence_posts(-left, shift + left - right, right, …)`, in less time.

        Args:
            left, right: (B, L+1, H), the fence posts projected by the weights of the left and the right part.
            shift: (H,), the hidden layer's bias.
            weight, bias, lengths, dropout, seed, generator, validate_args: as for `from_fence_posts`.
        """
        seed = random_seed(generator) if seed is None and dropout else seed or 0
        left, right, shift, weight, bias = map(at_least_float32, (left, right, shift, weight, bias))
        packed = difference_scores(left, right, shift, weight, bias, lengths, dropout, seed)
        return cls._from_packed(packed, left.shape[1] - 1, lengths, "left", validate_args)

    @classmethod
    def _from_packed(
        cls, packed: Tensor, L: int, lengths: Tensor, name: str, validate_args: bool | None
    ) -> Self:
        new = cls.__new__(cls)
        new._set(packed, L, lengths, name, validate_args)
        return new

    @lazy_property
    def scores(self) -> Tensor:
        """(B, L+1, L+1, L+1, 2): as given, or made from fence posts, with 0 where i < j < k does not hold."""
        return unpack(self._packed, self.L)

    def __repr__(self) -> str:
        return (
            f"SeparablePermutation(batch={self.batch_shape[0]}, L={self.L}, "
            f"dtype={self._packed.dtype}, device={self._packed.device})"
        )

    @property
    def support(self) -> Any:
        """Nodes (B, L−1, 4) of trees."""
        return _Trees(self.L, self.lengths)

    def expand(self, batch_shape: Any, _instance: object = None) -> Self:
        """The same distribution of each of B' rows, from B = 1 or B = B'; batches have one dimension."""
        return self._like(self._packed.expand(*batch_shape, -1, -1), self.lengths.expand(*batch_shape))

    def take(self, rows: Tensor) -> Self:
        """The distributions of some rows (K,) of the batch."""
        return self._like(self._packed[rows], self.lengths[rows])

    def _like(self, packed: Tensor, lengths: Tensor) -> Self:
        return self._from_packed(packed, self.L, lengths, "scores", self._validate_args)

    def _check_scores(self) -> None:
        if not self._validate_args:
            return
        start, split, end = split_table(self.L, self._packed.device)
        is_number = self._packed < torch.inf  # NaN is not less than anything
        wrong = ~is_number & (end <= self.lengths[:, None])[..., None]
        if bool(wrong.any()):
            row, at, op = wrong.nonzero()[0].tolist()
            where = [row, int(start[at]), int(split[at]), int(end[at]), op]
            raise ValueError(
                f"scores: expected numbers or -inf, found {float(self._packed[row, at, op])} at {where}"
            )

    def _check_possible(self) -> None:
        if not self._validate_args:
            return
        possible = self.log_partition > IMPOSSIBLE
        if not bool(possible.all()):
            row = int((~possible).nonzero()[0])
            found = "NaN" if self.log_partition[row].isnan() else "none"
            raise ValueError(f"scores: expected a tree without a forbidden split, found {found} in row {row}")

    @lazy_property
    def _inside(self) -> tuple[Tensor, Tensor]:
        """Log partition (B,) and rule probabilities (B, S, 2)."""
        return ops.inside(self._packed, self.lengths, self.L)

    @property
    def log_partition(self) -> Tensor:
        """Log Σ exp(score of the tree) over all trees: (B,)."""
        return self._inside[0]

    @lazy_property
    def marginals(self) -> Tensor:
        """R̃[b,k,i] = P(position k moves to output i), the expected permutation: (B, L, L), 0 at padding."""
        return ops.expected_permutation(self._inside[1], self.lengths, self.L)

    @lazy_property
    def entropy(self) -> Tensor:  # type: ignore[override]
        """The entropy of the tree in nats: (B,). A property, unlike in torch.distributions."""
        return ops.entropy(self._inside[1], self.lengths, self.L)

    @lazy_property
    def argmax(self) -> Reorderings:
        """The most likely tree of each row, and its permutation."""
        self._check_possible()
        return self._reorderings(ops.best_tree(self._packed, self.lengths, self.L))

    def sample(  # type: ignore[override]
        self, sample_shape: Any = (), *, generator: torch.Generator | None = None
    ) -> Reorderings:
        """Trees drawn from the distribution, *sample_shape of each row, and their permutations."""
        self._check_possible()
        sample_shape = Size(sample_shape)
        shape = Size([sample_shape.numel(), *self.batch_shape, max(self.L - 1, 1)])
        draws = uniforms(shape, self._packed.device, generator)
        nodes = ops.sample_tree(self._inside[1], self.lengths, draws, self.L)
        return self._reorderings(nodes.view(sample_shape + nodes.shape[1:]))

    def _reorderings(self, nodes: Tensor) -> Reorderings:
        return Reorderings(nodes, of_nodes.permutations(nodes, self.lengths, self.L), self.lengths)

    def log_prob(self, value: Reorderings | Tensor | Sequence[PermutationTree]) -> Tensor:
        """The log P(tree) of trees: (…, B).

        Args:
            value: what `sample` and `argmax` give, its `nodes` (…, B, L−1, 4), or one tree per row.
        """
        nodes = self._checked_nodes(value)
        flat = nodes.reshape(nodes.shape[:-3].numel(), *self.batch_shape, *self.event_shape)
        log_probs = of_nodes.tree_scores(self._packed, flat, self.L) - self.log_partition
        return torch.where(log_probs > IMPOSSIBLE, log_probs, LOG_ZERO).view(nodes.shape[:-2])

    def log_prob_permutation(self, permutations: Tensor) -> Tensor:
        """The log-probability of permutations, summed over all trees that produce them: (…, B, L) → (…, B).

        LOG_ZERO where a permutation is not separable.

        Args:
            permutations: (…, B, L) int64, the output position of every position. What is in the padding does
                not matter.
        """
        self._check_permutations(permutations)
        times = permutations.shape[:-2].numel()
        flat = permutations.reshape(times * self.batch_shape[0], self.L)
        packed, lengths = self._packed.repeat(times, 1, 1), self.lengths.repeat(times)
        able = of_nodes.splits_that_make(flat, self.L)
        inside, _ = ops.inside(torch.where(able, packed, LOG_ZERO), lengths, self.L)
        log_probs = inside - self.log_partition.repeat(times)
        return torch.where(inside > IMPOSSIBLE, log_probs, LOG_ZERO).view(permutations.shape[:-1])

    def _checked_nodes(self, value: Reorderings | Tensor | Sequence[PermutationTree]) -> Tensor:
        """The nodes (…, B, L−1, 4), once they are known to be in the support."""
        if isinstance(value, Reorderings):
            nodes = value.nodes
        elif isinstance(value, Tensor):
            nodes = value
        else:
            rows = [[*tree.nodes, *[(-1,) * 4] * (self.L - tree.length)] for tree in value]
            nodes = torch.tensor(rows, dtype=torch.int64, device=self._packed.device)
            nodes = nodes.view(len(rows), -1, 4)
        check_device("value", nodes, "scores", self._packed)
        shape = (*self.batch_shape, *self.event_shape)
        if nodes.shape[-3:] != shape or nodes.dtype != torch.int64:
            wanted = ", ".join(map(str, shape))
            raise ValueError(
                f"value: expected nodes in torch.int64 of shape (…, {wanted}), "
                f"found {nodes.dtype} of shape {tuple(nodes.shape)}"
            )
        if self._validate_args:
            inside = self.support.check(nodes)
            if not bool(inside.all()):
                *_, row = inside.logical_not().nonzero()[0].tolist()
                length = int(self.lengths[row])
                raise ValueError(
                    f"value: expected the nodes of a tree over {length} positions in preorder, "
                    f"found others in row {row}"
                )
        return nodes

    def _check_permutations(self, permutations: Tensor) -> None:
        shape = (*self.batch_shape, self.L)
        if permutations.shape[-2:] != shape or permutations.dtype != torch.int64:
            raise ValueError(
                f"permutations: expected torch.int64 of shape (…, {shape[0]}, {shape[1]}), "
                f"found {permutations.dtype} of shape {tuple(permutations.shape)}"
            )
        check_device("permutations", permutations, "scores", self._packed)
        if self._validate_args:
            positions = torch.arange(self.L, device=permutations.device)
            real = positions < self.lengths[:, None]
            wrong = (torch.where(real, permutations, positions).sort(-1).values != positions).any(-1)
            if bool(wrong.any()):
                *_, row = place = wrong.nonzero()[0].tolist()
                length = int(self.lengths[row])
                raise ValueError(
                    f"permutations: expected every position 0 to {length - 1} once, "
                    f"found {permutations[tuple(place)][:length].tolist()} in row {row}"
                )
