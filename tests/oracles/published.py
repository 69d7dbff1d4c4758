"""The published reordering layer in plain torch: an unfactored scorer and bottom-up block matrices.

This is the algorithm as the field writes it, O(l⁵) time and O(l⁴) memory, differentiated by autograd: the
oracle for lengths that enumeration cannot reach, and the baseline of the benchmark. It is vectorised over
the batch, the spans of a width and, where the shapes allow it, the splits of a span.

Charts are lists by width: entry w holds something for the spans (i, i+w), i = 0..L-w, and scores (B, I, M, 2)
hold splits i+1..i+w-1 in their third axis. Rows of a batch may be shorter than L; a row's answer is then
simply the chart's entry for the span (0, its length).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

Chart = list[Tensor]


class Inside(NamedTuple):
    """What the inside pass finds: log_partition (B,) and per width the rules P(j, op | i, k) (B, I, M, 2)."""

    log_partition: Tensor
    rules: Chart


def empty_chart(like: Tensor, length: int) -> Chart:
    """Entries for the widths 0..length; those that are never filled stay empty tensors."""
    return [like.new_empty(0) for _ in range(length + 1)]


def fence_posts(z: Tensor, begin: Tensor, end: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The forward and backward halves (B, L+1, D/2) at every fence post of z (B, L, D).

    `begin` (D,) stands before each row and `end` (D,) behind its own last position, not the batch's.
    """
    batch, length, width = z.shape
    begins, ends = begin.expand(batch, 1, width), end.expand(batch, 1, width)
    framed = torch.cat([begins, z, ends], dim=1)
    behind = torch.arange(length + 2) > lengths[:, None]
    framed = torch.where(behind[..., None], end, framed)
    half = width // 2
    return framed[:, :-1, :half], framed[:, 1:, half:]


def published_scores(
    z: Tensor, begin: Tensor, end: Tensor, mlp: Callable[[Tensor], Tensor], lengths: Tensor
) -> Chart:
    """Scores of every pair of adjacent spans: `mlp` (2D → 2) on [left; right] features, a call per width."""
    forward, backward = fence_posts(z, begin, end, lengths)
    length = z.shape[1]
    features = empty_chart(z, length)
    for width in range(1, length + 1):
        features[width] = torch.cat(
            [forward[:, width:] - forward[:, :-width], backward[:, :-width] - backward[:, width:]], dim=-1
        )
    scores = empty_chart(z, length)
    for width in range(2, length + 1):
        scores[width] = mlp(torch.cat(adjacent_spans(features, width), dim=-1))
    return scores


def adjacent_spans(chart: Chart, width: int) -> tuple[Tensor, Tensor]:
    """The entries of the left and the right parts, (B, I, M, …) each, of every split of a width."""
    spans = chart[1].shape[1] - width + 1
    left = torch.stack([chart[m][:, :spans] for m in range(1, width)], dim=2)
    right = torch.stack([chart[width - m][:, m : m + spans] for m in range(1, width)], dim=2)
    return left, right


def chart_from_dense(scores: Tensor) -> Chart:
    """Dense scores (B, L+1, L+1, L+1, 2) as a chart."""
    length = scores.shape[1] - 1
    chart = empty_chart(scores, length)
    for width in range(2, length + 1):
        i = torch.arange(length - width + 1)[:, None]
        m = torch.arange(1, width)[None, :]
        chart[width] = scores[:, i, i + m, i + width]
    return chart


def inside(scores: Chart, lengths: Tensor) -> Inside:
    """The inside pass in log space, width by width."""
    length = len(scores) - 1
    beta = empty_chart(scores[-1], length)
    rules = empty_chart(scores[-1], length)
    beta[1] = scores[-1].new_zeros(len(lengths), length)
    for width in range(2, length + 1):
        left, right = adjacent_spans(beta, width)
        gamma = scores[width] + (left + right)[..., None]
        beta[width] = gamma.flatten(2).logsumexp(-1)
        rules[width] = gamma.flatten(2).softmax(-1).view_as(gamma)
    whole = torch.stack([beta[width][:, 0] for width in range(1, length + 1)], dim=1)
    return Inside(whole.gather(1, lengths[:, None] - 1)[:, 0], rules)


def expected_permutation(rules: Chart, lengths: Tensor) -> Tensor:
    """The expected permutation (B, L, L), [b, k, i] = P(position k moves to output i), from block matrices.

    E(i,k) = Σ_j P(j,∧)·[E(i,j) 0; 0 E(j,k)] + P(j,△)·[0 E(i,j); E(j,k) 0], rows are input positions.
    """
    length = len(rules) - 1
    batch = len(lengths)
    blocks = empty_chart(rules[-1], length)
    blocks[1] = rules[-1].new_ones(batch, length, 1, 1)
    for width in range(2, length + 1):
        blocks[width] = combine_blocks(blocks, rules[width], width)
    rows = [F.pad(blocks[n][b, 0], (0, length - n, 0, length - n)) for b, n in enumerate(lengths.tolist())]
    return torch.stack(rows)


def combine_blocks(blocks: Chart, rules: Tensor, width: int) -> Tensor:
    """The block matrices (B, I, w, w) of the spans of one width from those of narrower spans."""
    spans = rules.shape[1]
    combined = rules.new_zeros(rules.shape[0], spans, width, width)
    for m in range(1, width):
        left, right = blocks[m][:, :spans], blocks[width - m][:, m : m + spans]
        straight, inverted = rules[:, :, m - 1, :, None, None].unbind(2)
        combined[..., :m, :m] += straight * left
        combined[..., m:, m:] += straight * right
        combined[..., :m, width - m :] += inverted * left
        combined[..., m:, : width - m] += inverted * right
    return combined


def entropy(rules: Chart, lengths: Tensor) -> Tensor:
    """The entropy (B,) of the tree distribution: a span's own, plus that of its parts, from the bottom up."""
    length = len(rules) - 1
    chart = empty_chart(rules[-1], length)
    chart[1] = rules[-1].new_zeros(len(lengths), length)
    for width in range(2, length + 1):
        left, right = adjacent_spans(chart, width)
        surprise = -torch.log(rules[width].clamp_min(torch.finfo(rules[width].dtype).tiny))
        chart[width] = (rules[width] * (surprise + (left + right)[..., None])).sum((2, 3))
    whole = torch.stack([chart[width][:, 0] for width in range(1, length + 1)], dim=1)
    return whole.gather(1, lengths[:, None] - 1)[:, 0]
