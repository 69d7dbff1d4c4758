"""The highway LSTM one sequence, one direction and one unit at a time, in Python's own numbers."""

import math

import torch
from torch import Tensor


def highway_lstm(
    projected: Tensor, weight: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None = None
) -> Tensor:
    B, n, K, _ = projected.shape
    H = weight.shape[-1]
    states = torch.zeros(B, n, K, H, dtype=torch.float64)
    for b, length in enumerate(lengths.tolist()):
        for k in range(K):
            factors = [1.0] * H if keep is None else keep[b, k].tolist()
            inputs = projected[b, :length, k].tolist()
            outputs = one_direction(
                inputs[::-1] if k % 2 else inputs, weight[k].tolist(), bias[k].tolist(), factors
            )
            states[b, :length, k] = torch.tensor(outputs[::-1] if k % 2 else outputs, dtype=torch.float64)
    return states


def one_direction(
    inputs: list[list[float]], weight: list[list[float]], bias: list[float], factors: list[float]
) -> list[list[float]]:
    H = len(factors)
    h, c = [0.0] * H, [0.0] * H
    outputs = []
    for x in inputs:
        masked = [factor * value for factor, value in zip(factors, h, strict=True)]
        gates = [
            x[row] + bias[row] + sum(w * value for w, value in zip(weight[row], masked, strict=True))
            for row in range(5 * H)
        ]
        for unit in range(H):
            i, f, g, o, r = gates[unit::H]
            c[unit] = sigmoid(i) * math.tanh(g) + sigmoid(f) * c[unit]
            mix = sigmoid(r)
            h[unit] = mix * sigmoid(o) * math.tanh(c[unit]) + (1 - mix) * x[5 * H + unit]
        outputs.append(list(h))
    return outputs


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0
