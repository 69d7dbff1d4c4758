"""An LSTM layer whose every step attends to the source with its last state."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ftor.nn.additive_attention import AdditiveAttention


def attentive_lstm(
    cell: nn.LSTMCell, attention: AdditiveAttention, memory: Sequence[Tensor], begin: Tensor, x: Tensor
) -> Tensor:
    """The states (B, L, H) of a layer whose inputs at each step are the attended source, then x.

    Gradients of weight matrices are sums over the steps. They are computed once for all steps: to add them
    step by step takes most of the time of such a small layer.

    Args:
        cell: reads (…, H + D).
        attention: its query is the last state.
        memory: values (B, n, H), their keys (B, n, H), and which positions are real (B, n).
        begin: (B, H), the first state.
        x: (B, L, D), other inputs.
    """
    values, keys, real = memory
    H = begin.shape[-1]
    projected = nn.functional.linear(x, cell.weight_ih[:, H:], cell.bias_ih + cell.bias_hh)
    weights = cell.weight_ih[:, :H], cell.weight_hh, attention.query.weight, attention.score.weight
    arguments = torch.is_grad_enabled(), projected, begin, values, keys, real, *weights
    states: Tensor = _AttentiveLSTM.apply(*arguments)  # type: ignore[no-untyped-call]
    return states


class _AttentiveLSTM(torch.autograd.Function):
    """Letters: q query, u hidden units of attention, a its weights, r what it reads; i, f, g, o gates."""

    @staticmethod
    def forward(
        ctx: Any,
        keep: bool,
        projected: Tensor,
        begin: Tensor,
        values: Tensor,
        keys: Tensor,
        real: Tensor,
        read_weight: Tensor,
        state_weight: Tensor,
        query_weight: Tensor,
        score_weight: Tensor,
    ) -> Tensor:
        h, c = begin, torch.zeros_like(begin)
        outside, v = ~real, score_weight[0]
        states, steps = [], []
        for p in projected.unbind(1):
            u = (torch.mm(h, query_weight.mT)[:, None] + keys).tanh_()
            a = (u @ v).masked_fill_(outside, -torch.inf).softmax(-1)
            r = (a[:, None] @ values).squeeze(1)
            gates = torch.addmm(p, r, read_weight.mT).addmm_(h, state_weight.mT)
            i, f, g, o = gates.chunk(4, 1)
            i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
            if keep:
                steps.append((h, c, u, a, r, i, f, g, o))
            c = f * c + i * g
            h = o * c.tanh()
            states.append(h)
        if keep:
            weights = read_weight, state_weight, query_weight, v
            ctx.save_for_backward(values, *weights, c, *(one for step in steps for one in step))
        return torch.stack(states, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        values, read_weight, state_weight, query_weight, v, c, *saved = ctx.saved_tensors
        d_h, d_c = torch.zeros_like(d_states[:, 0]), torch.zeros_like(d_states[:, 0])
        d_keys, d_v = torch.zeros_like(values), torch.zeros_like(v)
        rows = []
        for step in reversed(range(d_states.shape[1])):
            h, before, u, a, r, i, f, g, o = saved[9 * step : 9 * step + 9]
            d_h = d_h + d_states[:, step]
            tanh = c.tanh()
            d_c = d_c + d_h * o * (1 - tanh * tanh)
            d_gates = torch.cat(
                [
                    d_c * g * i * (1 - i),
                    d_c * before * f * (1 - f),
                    d_c * i * (1 - g * g),
                    d_h * tanh * o * (1 - o),
                ],
                1,
            )
            d_r = d_gates @ read_weight
            d_a = (values @ d_r[:, :, None]).squeeze(-1)
            d_score = a * (d_a - (a * d_a).sum(-1, keepdim=True))
            d_v += d_score.flatten() @ u.flatten(0, 1)
            d_u = (u * u).neg_().add_(1).mul_(v).mul_(d_score[..., None])
            d_keys += d_u
            d_q = d_u.sum(1)
            d_h = torch.addmm(d_q @ query_weight, d_gates, state_weight)
            d_c, c = d_c * f, before
            rows.append((d_gates, d_q, d_r, h, r, a))
        d_gates, d_q, d_r, h, r, a = (torch.stack(part, 1) for part in zip(*reversed(rows), strict=True))
        flat_gates, flat_h = d_gates.flatten(0, 1).mT, h.flatten(0, 1)
        return (
            None,
            d_gates,
            d_h,
            a.mT @ d_r,
            d_keys,
            None,
            flat_gates @ r.flatten(0, 1),
            flat_gates @ flat_h,
            d_q.flatten(0, 1).mT @ flat_h,
            d_v[None],
        )
