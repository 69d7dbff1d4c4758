"""What a transducer makes of a source, before and after it knows the output's length."""

from typing import NamedTuple, Self

import torch
from torch import Tensor

from ftor.distributions import Fertility, SeparablePermutation
from ftor.nn.padding import inside


class Reading(NamedTuple):
    """What a transducer makes of sources. It does not depend on the outputs' lengths.

    Attributes:
        x: (B, n, D) embeddings.
        inner_x: (B, n, P), x as the inner encoder of F→R reads it; None in the other orders.
        context: (B, n, D), what the decoder translates.
        fertility: P(f | x); in R→F that of permuted positions.
        permutation: P(R | x) in R→F; None in the other orders.
    """

    x: Tensor
    inner_x: Tensor | None
    context: Tensor
    fertility: Fertility
    permutation: SeparablePermutation | None

    def take(self, rows: Tensor) -> Self:
        """Some of the rows."""
        return type(self)(
            self.x[rows],
            None if self.inner_x is None else self.inner_x[rows],
            self.context[rows],
            self.fertility.take(rows),
            None if self.permutation is None else self.permutation.take(rows),
        )


class Alignment(NamedTuple):
    """Where each output token comes from, given the output's length.

    Attributes:
        copies: F̃, (B, n, L, d).
        permutation: P(R), over copies in F→R, over source positions in R→F; None without reordering.
        marginals: A[b,i,u,o], (B, n, d, L): P(output o is the u-th copy of source token i).
    """

    copies: Tensor
    permutation: SeparablePermutation | None
    marginals: Tensor


def fertility_loss(reading: Reading, aligned: Tensor, target_lengths: Tensor) -> Tensor:
    """−Σ log P(f_i = k_i), (B,), if k_i outputs are aligned with token i; in R→F expected over reorderings.

    Where some outputs of a sentence are aligned with nothing, a token may have more: −Σ log P(f_i ≥ k_i).
    """
    fertility = reading.fertility
    log_p = fertility.logits.log_softmax(-1)
    more = log_p.flip(-1).logcumsumexp(-1).flip(-1)
    complete = aligned.any(1).sum(1) == target_lengths
    terms = torch.where(complete[:, None, None], log_p, more)
    counts = aligned.sum(2).clamp(max=fertility.d)  # of source tokens
    if reading.permutation is None:
        expected = terms.gather(-1, counts[..., None]).squeeze(-1)
    else:
        where = counts[:, :, None].expand(-1, -1, terms.shape[1])
        expected = (reading.permutation.marginals * terms.mT.gather(1, where)).sum(-1)
    return -(expected * inside(fertility.source_lengths, fertility.n)).sum(1)
