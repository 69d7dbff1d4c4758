"""Fertility the slow, sure way: every one of the (d+1)^n fertility vectors, and the published sum."""

from itertools import product

import torch
from torch import Tensor


def all_fertilities(n: int, d: int) -> Tensor:
    """((d+1)^n, n) int64."""
    return torch.tensor(list(product(range(d + 1), repeat=n)))


def log_probabilities(log_p: Tensor) -> Tensor:
    """The log P(f) of every fertility vector, in the order of `all_fertilities`: (n, d+1) → ((d+1)^n,)."""
    n, width = log_p.shape
    return log_p[torch.arange(n), all_fertilities(n, width - 1)].sum(-1)


def probabilities(p: Tensor) -> Tensor:
    """P(f) of every fertility vector: (n, d+1) → ((d+1)^n,)."""
    return log_probabilities(p.log()).exp()


def length_probs(p: Tensor) -> Tensor:
    """P(f_1 + … + f_n = l) for l = 0..n·d: (n, d+1) → (n·d+1,)."""
    n, width = p.shape
    lengths = all_fertilities(n, width - 1).sum(-1)
    return p.new_zeros(n * (width - 1) + 1).index_add(0, lengths, probabilities(p))


def alignment(fertilities: Tensor, length: int, d: int) -> Tensor:
    """F(f) (n, length, d): 1 where position j is the u-th copy of token i."""
    result = torch.zeros(len(fertilities), length, d, dtype=torch.float64)
    position = 0
    for i, fertility in enumerate(fertilities.tolist()):
        for copy in range(fertility):
            result[i, position, copy] = 1.0
            position += 1
    return result


def marginals(p: Tensor, length: int) -> Tensor:
    """E[F(f) | length] (n, length, d): the mean over every f that adds up to the length."""
    n, width = p.shape
    result, total = torch.zeros(n, length, width - 1, dtype=p.dtype), 0.0
    for fertilities, probability in zip(all_fertilities(n, width - 1), probabilities(p), strict=True):
        if int(fertilities.sum()) == length:
            result += probability * alignment(fertilities, length, width - 1)
            total += probability
    return result / total


def published_marginals(p: Tensor, length: int) -> Tensor:
    """The paper's equation for P(F_iju = 1, length), term by term in O(n·l·d²), over P(length)."""
    n, width = p.shape
    d = width - 1
    before = [_sums(p[:i], length) for i in range(n + 1)]
    after = [_sums(p[i:], length) for i in range(n + 1)]
    result = torch.zeros(n, length, d, dtype=p.dtype)
    for i in range(n):
        for j in range(1, length + 1):
            for u in range(1, min(d, j) + 1):
                for v in range(min(length - j, d - u) + 1):
                    result[i, j - 1, u - 1] += before[i][j - u] * p[i, u + v] * after[i + 1][length - j - v]
    return result / before[n][length]


def _sums(p: Tensor, length: int) -> Tensor:
    """P(sum of the tokens in p = h) for h = 0..length, the published recursion."""
    sums = torch.zeros(length + 1, dtype=p.dtype)
    sums[0] = 1.0
    for token in p:
        longer = torch.zeros_like(sums)
        for h in range(length + 1):
            for r in range(min(len(token), h + 1)):
                longer[h] += token[r] * sums[h - r]
        sums = longer
    return sums
