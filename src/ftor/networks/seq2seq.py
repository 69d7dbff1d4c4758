"""What all baselines share: they write outputs from left to right, and an end after them."""

import torch
from torch import Tensor
from torch.nn import functional as F

from ftor.networks.network import FLOOR, Losses
from ftor.nn.padding import inside
from ftor.text.batches import NO_CLASS, Batch
from ftor.text.vocabulary import PAD


def with_end(source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sources (B, n + 1) and their lengths (B,), with an end: the id of padding, which else nothing reads."""
    return F.pad(source, (0, 1), value=PAD), lengths + 1


def teacher(batch: Batch, end: int) -> tuple[Tensor, Tensor]:
    """The tokens (B, L + 1) that come before each gold token, and these: the targets and then their ends.

    Before the first token there is the end. What comes after a target's end is of no use.
    """
    before = F.pad(batch.target.clamp(min=0), (1, 0), value=end)
    golds = F.pad(batch.target, (0, 1)).scatter(1, batch.target_lengths[:, None], end)
    return before, golds


def token_losses(logits: Tensor, golds: Tensor, lengths: Tensor) -> Tensor:
    """−log P of each gold token (B, L + 1), 0 past the end, from `logits` (B, L + 1, V + 1).

    A token that the vocabulary lacks costs as much as the transducer's floor.
    """
    log_p = logits.log_softmax(-1).gather(-1, golds.clamp(min=0)[..., None]).squeeze(-1)
    log_p = log_p.masked_fill(golds == NO_CLASS, torch.tensor(FLOOR).log().item())
    return -log_p.masked_fill(~inside(lengths + 1, golds.shape[1]), 0)


def only_tokens(tokens: Tensor) -> Losses:
    """Losses of a model whose outputs have no length but by their end, and no alignment to learn."""
    return Losses(tokens, torch.zeros_like(tokens), torch.zeros_like(tokens))
