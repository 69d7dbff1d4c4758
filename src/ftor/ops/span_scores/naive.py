"""The span scorer in plain torch: any device and dtype, one width at a time."""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ftor.ops.span_scores.dropout import WORD, make_keys, pair_key, signed, threshold


def span_scores(
    start: Tensor,
    split: Tensor,
    end: Tensor,
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    dropout: float = 0.0,
    seed: int = 0,
) -> Tensor:
    """Scores (B, S, 2) of every split: weight · dropout(relu(start_i + split_j + end_k)) + bias.

    Checkpointing keeps the memory at one width's hidden units, O(l²·H), instead of all, O(l³·H). It is
    left out within the transforms of `torch.func`, which do not allow it.
    """
    posts = start.shape[1]
    past_the_end = torch.arange(posts, device=start.device) > lengths[:, None]
    start, split, end = (rows.masked_fill(past_the_end[..., None], 0) for rows in (start, split, end))
    scores = [(start + split + end)[:, :0] @ weight.mT + bias]  # none, but a part of the graph even if L is 1
    keeps_memory_low = not torch._C._are_functorch_transforms_active()
    for width in range(2, posts):
        args = (start, split, end, weight, bias, lengths, width, dropout, seed)
        if keeps_memory_low:
            scores.append(checkpoint(_scores_of_width, *args, use_reentrant=False, preserve_rng_state=False))
        else:
            scores.append(_scores_of_width(*args))
    return torch.cat(scores, 1)


def _scores_of_width(
    start: Tensor,
    split: Tensor,
    end: Tensor,
    weight: Tensor,
    bias: Tensor,
    lengths: Tensor,
    width: int,
    dropout: float,
    seed: int,
) -> Tensor:
    spans = start.shape[1] - width
    splits = split[:, 1 : 1 + spans + width - 2].unfold(1, width - 1, 1).transpose(2, 3)
    past_the_end = (torch.arange(width, width + spans, device=start.device) > lengths[:, None])[
        ..., None, None
    ]
    hidden = (start[:, :spans, None] + splits + end[:, width:, None]).masked_fill(past_the_end, 0).relu()
    if dropout > 0:
        hidden = hidden * _kept(hidden, width, dropout, seed) / (1 - dropout)
    return (hidden @ weight.mT + bias).masked_fill(past_the_end, 0).flatten(1, 2)


def _kept(hidden: Tensor, width: int, dropout: float, seed: int) -> Tensor:
    """Which hidden units (B, L+1−w, w−1, H) of `width` survive dropout."""
    B, spans, splits, H = hidden.shape
    rows, units = torch.arange(B, device=hidden.device), torch.arange(H, device=hidden.device)
    left, right, unit = make_keys(seed, rows[:, None, None], units)
    i = torch.arange(spans, device=hidden.device)[:, None]
    j = i + 1 + torch.arange(splits, device=hidden.device)
    keys = pair_key(left, i, j) * pair_key(right, i + width, j)
    return torch.as_tensor(signed((keys & WORD)[..., None] * unit) > threshold(dropout))
