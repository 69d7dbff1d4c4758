"""Fertility in plain torch: any device, differentiable any number of times; a loop over the tokens only.

The derivation is in README.md. Everything is computed in float64 (where the device has it) and
returned in the dtype of `log_p`.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from ftor.ops.dispatch import IMPOSSIBLE, LOG_ZERO, reads_values


def length_log_probs(log_p: Tensor, max_length: int) -> Tensor:
    """The log P(f_1 + … + f_n = l) for l = 0..max_length: (B, n, d+1) → (B, max_length+1)."""
    log_sums, _ = _prefix_sums(_wide(log_p), max_length)
    return log_sums.to(log_p.dtype)


def log_prob_length(log_p: Tensor, lengths: Tensor) -> Tensor:
    """The log P(f_1 + … + f_n = length) of each row's length: (B, n, d+1), (B,) → (B,)."""
    high = _reached(log_p, lengths)
    log_probs = length_log_probs(log_p, high).gather(1, lengths.clamp(0, high).unsqueeze(1)).squeeze(1)
    return torch.where((lengths >= 0) & (lengths <= high), log_probs, LOG_ZERO)


def marginals(log_p: Tensor, lengths: Tensor, max_length: int) -> Tensor:
    """F̃ given the length of each row: (B, n, d+1), (B,) → (B, n, max_length, d)."""
    log_sums, predecessors = _prefix_sums(_wide(log_p), max_length)
    mass = _start_of_walk(log_sums, lengths)
    joints = []
    for predecessor in reversed(predecessors):
        joint = _by_start(mass.unsqueeze(-1) * predecessor)  # [b,s,r] = P(prefix sum s, then f_i = r | l)
        mass = joint.sum(-1)
        joints.append(joint)
    joint = torch.stack(joints[::-1], dim=1)
    at_least = joint.flip(-1).cumsum(-1).flip(-1)[..., 1:]  # [b,i,s,u-1] = P(prefix sum s, then f_i ≥ u | l)
    return _by_position(at_least).to(log_p.dtype)


def entropy(log_p: Tensor, lengths: Tensor, max_length: int) -> Tensor:
    """The entropy of the fertilities given the length of each row: (B, n, d+1), (B,) → (B,)."""
    log_sums, predecessors = _prefix_sums(_wide(log_p), max_length)
    mass = _start_of_walk(log_sums, lengths)
    total = torch.zeros_like(mass[:, 0])
    for predecessor in reversed(predecessors):
        # A step of probability 0 adds nothing, and the logarithm of the smallest number keeps that finite.
        surprise = -predecessor * predecessor.clamp_min(torch.finfo(predecessor.dtype).tiny).log()
        total = total + (mass * surprise.sum(-1)).sum(-1)
        mass = _by_start(mass.unsqueeze(-1) * predecessor).sum(-1)
    return total.to(log_p.dtype)


def argmax(log_p: Tensor, lengths: Tensor) -> Tensor:
    """The most likely fertilities given the length of each row: (B, n, d+1), (B,) → (B, n)."""
    log_p = _wide(log_p)
    best = _empty_prefix(log_p, _reached(log_p, lengths))
    choices = []
    for i in range(log_p.shape[1]):
        best, choice = _continuations(best, log_p[:, i]).max(-1)
        choices.append(choice)
    possible = _start_of_walk(best, lengths).any(1)
    position = torch.where(possible, lengths, 0)
    fertilities = []
    for choice in reversed(choices):
        fertility = torch.where(possible, choice.gather(1, position.unsqueeze(1)).squeeze(1), 0)
        position = position - fertility
        fertilities.append(fertility)
    return torch.stack(fertilities[::-1], dim=1)


def sample(log_p: Tensor, lengths: Tensor | None, uniforms: Tensor) -> Tensor:
    """Fertilities by inverse CDF from `uniforms` in [0, 1): (B, n, d+1), (S, B, n) → (S, B, n)."""
    log_p = _wide(log_p)
    uniforms = uniforms.to(log_p.dtype)
    if lengths is None:
        return _inverse_cdf(log_p.exp(), uniforms)
    log_sums, predecessors = _prefix_sums(log_p, _reached(log_p, lengths))
    possible = _start_of_walk(log_sums, lengths).any(1)
    position = torch.where(possible, lengths, 0).expand(uniforms.shape[:2])
    rows = torch.arange(log_p.shape[0], device=log_p.device)
    fertilities = []
    for predecessor, uniform in zip(reversed(predecessors), reversed(uniforms.unbind(2)), strict=True):
        fertility = torch.where(possible, _inverse_cdf(predecessor[rows, position], uniform), 0)
        position = position - fertility
        fertilities.append(fertility)
    return torch.stack(fertilities[::-1], dim=2)


def longest(log_p: Tensor, lengths: Tensor) -> int:
    """The largest of `lengths` that n tokens can reach; n·d if their values cannot be read.

    That is so on the device "meta" and under `torch.func.vmap`.
    """
    reachable: int = log_p.shape[1] * (log_p.shape[2] - 1)
    try:
        return min(max([0, *map(int, lengths.tolist())]), reachable)
    except RuntimeError:
        return reachable


def _reached(log_p: Tensor, lengths: Tensor) -> int:
    """The sums up to which to compute: `longest`, or n·d on devices where that would wait for the lengths."""
    reachable: int = log_p.shape[1] * (log_p.shape[2] - 1)
    return longest(log_p, lengths) if reads_values(lengths) else reachable


def _wide(log_p: Tensor) -> Tensor:
    return log_p.to(torch.float32 if log_p.device.type == "mps" else torch.float64)


def _prefix_sums(log_p: Tensor, max_length: int) -> tuple[Tensor, list[Tensor]]:
    """The log P(f_1 + … + f_n = s) as (B, s), and P(f_i = r | f_1 + … + f_i = s) as n times (B, s, r)."""
    log_sums = _empty_prefix(log_p, max_length)
    predecessors = []
    for i in range(log_p.shape[1]):
        joint = _continuations(log_sums, log_p[:, i])
        total = joint.logsumexp(-1)
        log_sums = torch.where(total > IMPOSSIBLE, total, LOG_ZERO)
        predecessors.append(joint.softmax(-1))
    return log_sums, predecessors


def _empty_prefix(log_p: Tensor, max_length: int) -> Tensor:
    return F.pad(log_p.new_zeros(log_p.shape[0], 1), (0, max_length), value=LOG_ZERO)


def _continuations(log_sums: Tensor, log_p: Tensor) -> Tensor:
    """[b,s,r] = log_sums[b,s-r] + log_p[b,r]: the ways to reach s with this token's fertility r."""
    d, sums = log_p.shape[-1] - 1, log_sums.shape[1]
    before = F.pad(log_sums, (d, 0), value=LOG_ZERO)
    windows = torch.stack([before[:, r : r + sums] for r in range(d + 1)], -1)
    return windows.flip(-1) + log_p.unsqueeze(1)


def _start_of_walk(log_sums: Tensor, lengths: Tensor) -> Tensor:
    """One-hot (B, max_length+1) at each row's length; all zero where that length is impossible."""
    sums = torch.arange(log_sums.shape[1], device=lengths.device)
    return ((sums == lengths.unsqueeze(1)) & (log_sums > IMPOSSIBLE)).to(log_sums.dtype)


def _by_start(x: Tensor) -> Tensor:
    """[b,s,r] ← [b,s+r,r]: from the prefix sum after a token to the one before it."""
    sums, fertilities = x.shape[1:]
    index = torch.arange(sums, device=x.device).unsqueeze(1) + torch.arange(fertilities, device=x.device)
    return F.pad(x, (0, 0, 0, fertilities - 1)).gather(1, index.expand(x.shape[0], -1, -1))


def _by_position(x: Tensor) -> Tensor:
    """[b,i,j,u-1] ← [b,i,j-u,u-1] with j = 1..max_length (stored from 0): from prefix sums to positions."""
    batch, n, sums, d = x.shape
    shift = torch.arange(d - 1, -1, -1, device=x.device)
    index = torch.arange(sums - 1, device=x.device).unsqueeze(1) + shift
    return F.pad(x, (0, 0, d - 1, 0)).gather(2, index.expand(batch, n, -1, -1))


def _inverse_cdf(p: Tensor, uniforms: Tensor) -> Tensor:
    """The first fertility whose cumulative probability passes the uniform; never one of probability 0."""
    cumulative = p.cumsum(-1)
    passed = (cumulative <= (uniforms * cumulative[..., -1]).unsqueeze(-1)).sum(-1)
    last = torch.where(p > 0, torch.arange(p.shape[-1], device=p.device), 0).amax(-1)
    return torch.minimum(passed, last)
