"""The highway LSTM in plain torch: any device, differentiable any number of times; a loop over time only."""

import torch
from torch import Tensor


def highway_lstm(
    projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None = None
) -> Tensor:
    """Hidden states (B, n, K, H) from projections (B, n, K, 6H); see `ftor.ops.recurrence`."""
    B, n, K, _ = projected.shape
    H = weight.shape[-1]
    real = (torch.arange(n, device=lengths.device) < lengths[:, None])[..., None, None].expand(B, n, K, 1)
    steps = _in_order(projected.masked_fill(~real, 0)).permute(1, 2, 0, 3)  # (n, K, B, 6H)
    real = _in_order(real).permute(1, 2, 0, 3)
    factors = None if keep is None else keep.transpose(0, 1)
    hidden = cell = projected.new_zeros(K, B, H)
    states = []
    for step, here in zip(steps, real, strict=True):
        fed_back = hidden if factors is None else hidden * factors
        gates = step[..., : 5 * H] + torch.baddbmm(bias[:, None], fed_back, weight.mT)
        i, f, g, o, r = gates.chunk(5, -1)
        # A row that runs right to left has its padding first: its state stays 0 until its last token.
        cell = torch.where(here, i.sigmoid() * g.tanh() + f.sigmoid() * cell, 0)
        mix, highway = r.sigmoid(), step[..., 5 * H :]
        hidden = torch.where(here, mix * (o.sigmoid() * cell.tanh()) + (1 - mix) * highway, 0)
        states.append(hidden)
    return _in_order(torch.stack(states).permute(2, 0, 1, 3))


def _in_order(x: Tensor) -> Tensor:
    """Reverse time in the odd directions of (B, n, K, …): from positions to steps, and back."""
    backward = torch.arange(x.shape[2], device=x.device) % 2 == 1
    return torch.where(backward[:, None], x.flip(1), x)
