"""What the baselines share: they write outputs from left to right, then an end."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ftor.networks.network import FLOOR, Losses
from ftor.nn.padding import inside
from ftor.text.batches import NO_CLASS, Batch
from ftor.text.vocabulary import PAD


def with_end(source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Add an end to sources (B, n) with `lengths` (B,). Its id is that of padding, which is never read."""
    return F.pad(source, (0, 1), value=PAD), lengths + 1


def teacher_forcing(batch: Batch, end: int) -> tuple[Tensor, Tensor]:
    """The decoder's inputs and the gold tokens, (B, L + 1) each.

    Gold tokens are the target and its end. The input of each is the token before it; the first input is the
    end. Positions after a target's end have no meaning.
    """
    before = F.pad(batch.target.clamp(min=0), (1, 0), value=end)
    golds = F.pad(batch.target, (0, 1)).scatter(1, batch.target_lengths[:, None], end)
    return before, golds


def token_losses(logits: Tensor, golds: Tensor, lengths: Tensor) -> Tensor:
    """−log P of each gold token (B, L + 1), 0 past the end, from `logits` (B, L + 1, V + 1).

    A token that is not in the vocabulary costs −log FLOOR.
    """
    log_p = logits.log_softmax(-1).gather(-1, golds.clamp(min=0)[..., None]).squeeze(-1)
    log_p = log_p.masked_fill(golds == NO_CLASS, torch.tensor(FLOOR).log().item())
    return -log_p.masked_fill(~inside(lengths + 1, golds.shape[1]), 0)


def only_tokens(tokens: Tensor) -> Losses:
    """The losses of a network that has no length term and no alignment term."""
    return Losses(tokens, torch.zeros_like(tokens), torch.zeros_like(tokens))
