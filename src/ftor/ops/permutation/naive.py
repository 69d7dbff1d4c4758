"""Trees of separable permutations in plain torch: any device and dtype, vectorised over batch and spans.

Spans are treated width by width, so Python loops run over the L widths only. Splits come packed by
width (see `ftor.ops.splits`), so the splits of one width are a slice, not a gather.
"""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from ftor.ops.splits import first_split, split_table


def _by_width(packed: Tensor, L: int) -> Iterator[tuple[int, Tensor]]:
    """Yield (width w, its splits (B, L+1−w, w−1, 2)) for w = 2..L."""
    for width in range(2, L + 1):
        here = packed[:, first_split(width, L) : first_split(width + 1, L)]
        yield width, here.view(-1, L + 1 - width, width - 1, 2)


class _Chart:
    """One number per span, filled width by width, read as all left or all right children of a width."""

    def __init__(self, leaves: Tensor) -> None:
        self.L = leaves.shape[1]
        # (B, L+1, widths): column w−1 holds width w, by the span's start and by its end. One tensor that
        # grows, because the gradient of a list of columns would take an operation per column and width.
        self.starts, self.ends = F.pad(leaves, (0, 1))[..., None], F.pad(leaves, (1, 0))[..., None]

    def add(self, width: int, spans: Tensor) -> None:
        """Append `spans` (B, L+1−w), the values of the next width."""
        self.starts = torch.cat([self.starts, F.pad(spans, (0, width))[..., None]], -1)
        self.ends = torch.cat([self.ends, F.pad(spans, (width, 0))[..., None]], -1)

    def children(self, width: int) -> Tensor:
        """Sum of both children's values for every split of `width`: (B, L+1−w, w−1)."""
        return self.starts[:, : self.L + 1 - width] + self.ends[:, width:].flip(-1)

    def roots(self, lengths: Tensor) -> Tensor:
        """Value of the span (0, length) of each row: (B,)."""
        return self.starts[:, 0].gather(1, lengths[:, None] - 1)[:, 0]


def _leaves(packed: Tensor, L: int) -> Tensor:
    """Zeros (B, L), as an empty sum: a part of the graph even if L is 1 and there are no splits."""
    return packed[:, :0].sum((1, 2))[:, None].expand(-1, L)


def _wide(scores: Tensor) -> Tensor:
    """As float64, where the device has it: charts are large sums, and rules are small differences of them."""
    return scores if scores.device.type == "mps" else scores.double()


def _within(lengths: Tensor, L: int) -> Tensor:
    """Which splits lie within each row's length: (B, S, 1)."""
    _, _, end = split_table(L, lengths.device)
    return (end <= lengths[:, None])[..., None]


def inside(scores: Tensor, lengths: Tensor, L: int) -> tuple[Tensor, Tensor]:
    """Log partition (B,) and rule probabilities P(j, op | i, k) (B, S, 2) of `scores` (B, S, 2)."""
    within = _within(lengths, L)
    wide = _wide(scores.masked_fill(~within, 0))
    chart = _Chart(_leaves(wide, L))
    rules = [wide.new_zeros(scores.shape[0], 0, 2)]
    for width, split_scores in _by_width(wide, L):
        weights = split_scores + chart.children(width)[..., None]
        total = weights.flatten(2).logsumexp(-1)
        chart.add(width, total)
        rules.append((weights - total[..., None, None]).exp().flatten(1, 2))
    return chart.roots(lengths).to(scores.dtype), (torch.cat(rules, 1) * within).to(scores.dtype)


def expected_permutation(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Expected permutation (B, L, L), [b, k, o] = P(position k moves to output o), top-down.

    The block of a child starts where that of its parent starts, or ends where it ends. Mass is therefore
    kept twice, by the start and by the end of blocks, and need not be shifted for every split.
    """
    B = rules.shape[0]
    by_start = rules.new_zeros(B, (L + 1) * (L + 1), L + 1)
    by_end = torch.zeros_like(by_start)
    by_start[torch.arange(B, device=rules.device), lengths, 0] = 1  # row 0·(L+1)+length is the root's span
    start, split, end = split_table(L, rules.device)
    left, right = start * (L + 1) + split, split * (L + 1) + end
    for width, probs in reversed(list(_by_width(rules, L))):
        offsets = L + 1 - width
        here = slice(first_split(width, L), first_split(width + 1, L))
        spans = torch.arange(offsets, device=rules.device) * (L + 2) + width
        mass = by_start[:, spans, :offsets] + by_end[:, spans, width:]
        straight, inverted = (probs[..., None] * mass[:, :, None, None]).flatten(1, 2).unbind(2)
        by_start[..., :offsets].index_add_(1, left[here], straight).index_add_(1, right[here], inverted)
        by_end[..., width:].index_add_(1, left[here], inverted).index_add_(1, right[here], straight)
    leaves = torch.arange(L, device=rules.device) * (L + 2) + 1
    return by_start[:, leaves, :L] + by_end[:, leaves, 1:] + _leaves(rules, L)[..., None]


def entropy(rules: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Entropy of the distribution over trees, in nats: (B,)."""
    chart = _Chart(_leaves(rules, L))
    for width, probs in _by_width(rules, L):
        surprise = -probs * probs.clamp_min(torch.finfo(probs.dtype).tiny).log()
        below = probs.sum(-1) * chart.children(width)
        chart.add(width, surprise.sum((-1, -2)) + below.sum(-1))
    return chart.roots(lengths)


def best_tree(scores: Tensor, lengths: Tensor, L: int) -> Tensor:
    """Nodes (B, L−1, 4) of each row's tree of highest score, in preorder (i, j, k, op), −1 past its end."""
    wide = _wide(scores.masked_fill(~_within(lengths, L), 0))
    chart = _Chart(_leaves(wide, L))
    choices = [lengths.new_zeros(scores.shape[0], 0)]
    for width, split_scores in _by_width(wide, L):
        best, choice = (split_scores + chart.children(width)[..., None]).flatten(2).max(-1)
        chart.add(width, best)
        choices.append(choice)
    choice_of_span = torch.cat(choices, 1)

    def choose(_: int, start: Tensor, width: Tensor) -> Tensor:
        spans_before = (width - 2) * (2 * L + 1 - width) // 2
        return choice_of_span.gather(1, (spans_before + start)[:, None])[:, 0]

    return _unfold(choose, lengths, L)


def sample_tree(rules: Tensor, lengths: Tensor, uniforms: Tensor, L: int) -> Tensor:
    """Nodes (S, B, L−1, 4) of S trees per row, drawn exactly; `uniforms` (S, B, L−1) decide node by node."""
    cumulative = torch.cat(
        [rules.new_zeros(rules.shape[0], 0)]
        + [probs.flatten(2).cumsum(-1).flatten(1) for _, probs in _by_width(rules, L)],
        1,
    )
    steps = torch.arange(2 * (L - 1), device=rules.device)

    def choose(node: int, start: Tensor, width: Tensor) -> Tensor:
        choices = 2 * (width - 1)
        first = 2 * (first_split(width, L) + start * (width - 1))
        places = first[..., None] + torch.minimum(steps, choices[..., None] - 1)
        reach = cumulative.expand(*start.shape, -1).gather(-1, places)
        level = uniforms[..., node] * reach[..., -1]  # rounding may leave the sum a little off 1
        return (reach <= level[..., None]).sum(-1).minimum(choices - 1)

    return _unfold(choose, lengths.expand(uniforms.shape[:2]), L)


def _unfold(choose: Callable[[int, Tensor, Tensor], Tensor], lengths: Tensor, L: int) -> Tensor:
    """Grow trees of `lengths` (…) in preorder; `choose(node, start, width)` gives 2·(j − i − 1) + op.

    Nothing is written in place or picked by a mask, so that `torch.func.vmap` and meta tensors work.
    """
    nodes = []
    # Spans that are still to be split. The last place takes what is not pushed: leaves.
    stack = F.pad(torch.stack([torch.zeros_like(lengths), lengths], -1)[..., None, :], (0, 0, 0, L))
    height = (lengths > 1).long()
    for node in range(L - 1):
        alive = height > 0
        start, end = stack.gather(-2, _pairs((height - 1).clamp_min(0))).squeeze(-2).unbind(-1)
        start, end = start * alive, torch.where(alive, end, 2)
        choice = choose(node, start, end - start)
        split = start + 1 + choice // 2
        nodes.append(torch.where(alive[..., None], torch.stack([start, split, end, choice % 2], -1), -1))
        height = height - alive.long()
        for low, high in ((split, end), (start, split)):  # the left child is popped first
            push = alive & (high - low > 1)
            span = torch.stack([low, high], -1)[..., None, :]
            stack = stack.scatter(-2, _pairs(torch.where(push, height, L)), span)
            height = height + push.long()
    return torch.stack(nodes, -2) if nodes else lengths.new_zeros(*lengths.shape, 0, 4)


def _pairs(places: Tensor) -> Tensor:
    """As an index (…, 1, 2) into a stack of pairs."""
    return places[..., None, None].expand(*places.shape, 1, 2)
