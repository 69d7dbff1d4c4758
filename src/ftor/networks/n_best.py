"""The n best outputs of a transducer over the lengths that outputs may have."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from ftor.networks import decoding
from ftor.networks.decoding import R, TransducesTokens, check_length, column_scores, reachable
from ftor.networks.network import NBest, Output
from ftor.nn.padding import inside
from ftor.ops.dispatch import LOG_ZERO
from ftor.text.batches import SourceBatch


class WritesTokens(TransducesTokens[R], Protocol[R]):
    """What the search asks of a transducer, besides what the search for one output asks."""

    def beam_tokens(self, batch: SourceBatch, reading: R, lengths: Tensor, n: int) -> tuple[Tensor, Tensor]:
        """Likely outputs of an autoregressive decoder: log-probabilities (B, n) and choices (B, n, L)."""
        ...


@torch.no_grad()
def n_best_outputs(
    network: WritesTokens[R],
    batch: SourceBatch,
    k: int,
    n: int,
    search: NBest | None = None,
    allowed: Tensor | None = None,
) -> list[list[Output]]:
    """For each source the n best outputs of each of its k most likely lengths. Some may have none.

    They are exact if the decoder is independent, and those of a beam of width n if it is autoregressive.
    Outputs of equal score are in the order of their lengths' probabilities, then in that of their choices;
    those of a grammar are in the order that `ops/cyk/README.md` gives.

    Args:
        network: gives the probabilities of lengths and tokens.
        batch: the sources; with `search`, their `columns` too.
        k: how many lengths.
        n: how many outputs of each length.
        search: finds the outputs, if only some are allowed. Not for autoregressive decoders.
        allowed: as for `decode`.
    """
    B, positions = batch.source.shape
    if B > 1 and B * network.config.reordered(positions, 0) ** 3 > decoding.SPLITS_AT_ONCE:
        order = batch.source_lengths.argsort()
        halves = (batch.take(rows) for rows in order.tensor_split(2))
        parts = [row for half in halves for row in n_best_outputs(network, half, k, n, search, allowed)]
        return [parts[place] for place in order.argsort().tolist()]
    if B == 1:
        check_length(network.config, positions, 0)
    reading = network.read(batch)
    mask = None if allowed is None else reachable(allowed, batch, network.config)
    top = reading.fertility.top_lengths(k, mask)
    outputs = _of_lengths(network, batch, reading, top.lengths[:, 0], top.log_probs[:, 0], n, search)
    for log_probs, lengths in decoding.later_lengths(top):
        rows, ranks = (log_probs > LOG_ZERO).nonzero(as_tuple=True)
        if not len(rows):
            break
        own = batch.take(rows), reading.take(rows), lengths[rows, ranks], log_probs[rows, ranks]
        for row, some in zip(rows.tolist(), _of_lengths(network, *own, n, search), strict=True):
            outputs[row] += some
    return outputs


def best_first(outputs: Iterable[Output]) -> list[Output]:
    """Outputs by their scores. Equal ones keep their order."""
    return sorted(outputs, key=lambda output: -output.score)


def with_answer(answer: Output, others: Sequence[Output], n: int) -> list[Output]:
    """The answer, then the others without it, n in all."""
    return [answer, *(other for other in others if other.choices != answer.choices)][:n]


def _of_lengths(
    network: WritesTokens[R],
    batch: SourceBatch,
    reading: R,
    lengths: Tensor,
    log_probs: Tensor,
    n: int,
    search: NBest | None,
) -> list[list[Output]]:
    """The n best outputs of the given lengths (B,), some rows at a time as in `decode`."""
    B, L = len(lengths), int(lengths.max())
    if B > 1 and B * L**3 > decoding.SPLITS_AT_ONCE:
        order = lengths.argsort()
        parts: list[list[Output]] = []
        for rows in order.tensor_split(2):
            own = batch.take(rows), reading.take(rows), lengths[rows], log_probs[rows]
            parts += _of_lengths(network, *own, n, search)
        return [parts[place] for place in order.argsort().tolist()]
    if B == 1:
        check_length(network.config, 0, L)
    if search is not None:
        scores, choices = _searched(network, batch, reading, lengths, n, search)
    elif network.config.decoder == "independent":
        scores, choices = best_combinations(network.token_probabilities(batch, reading, lengths), lengths, n)
    else:
        scores, choices = network.beam_tokens(batch, reading, lengths, n)
    totals = scores + log_probs[:, None]
    by_row = zip(choices.tolist(), totals.tolist(), lengths.tolist(), log_probs.tolist(), strict=True)
    return [
        [Output(c[:length], s, length_score) for c, s in zip(strings, sums, strict=True) if s > LOG_ZERO]
        for strings, sums, length, length_score in by_row
    ]


def _searched(
    network: WritesTokens[R], batch: SourceBatch, reading: R, lengths: Tensor, n: int, search: NBest
) -> tuple[Tensor, Tensor]:
    """The n best outputs that a search finds: scores (B, n) and choices (B, n, L)."""
    columns = batch.columns
    assert columns is not None
    log_p = column_scores(columns, network.token_probabilities(batch, reading, lengths))
    # A terminal and a word of the sentence that are the same choice are the same word.
    scores, best = search(log_p, lengths, n, columns)
    return scores, F.pad(columns, (0, 1))[:, None, :].expand(-1, n, -1).gather(2, best.clamp(min=0))


def best_combinations(probabilities: Tensor, lengths: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """The n most likely sequences of choices that are independent of each other.

    The n best beginnings of each length are kept: a worse one can be continued no better.

    Args:
        probabilities: (B, L, C) of each choice at each position.
        lengths: (B,).
        n: how many sequences.

    Returns:
        Log-probabilities (B, n), best first, −inf where there are fewer sequences, and choices (B, n, L). Of
        equal sequences, those whose first choice is likelier or has the lower number come first.
    """
    B, L, C = probabilities.shape
    each = min(n, C)
    # torch.topk gives equal values in any order.
    p, order = (values[..., :each] for values in probabilities.sort(dim=-1, descending=True, stable=True))
    log_p = p.clamp(min=torch.finfo(p.dtype).tiny).log().masked_fill(p <= 0, -torch.inf)
    sums = torch.full((B, 1), 0.0, dtype=torch.float64, device=p.device)
    ranks = torch.zeros(B, 1, 0, dtype=torch.int64, device=p.device)
    past = torch.full((each,), -torch.inf, dtype=torch.float64, device=p.device)
    past[0] = 0
    for o in range(L):
        inside_row = (o < lengths)[:, None]
        longer = (sums[..., None] + torch.where(inside_row, log_p[:, o], past)[:, None, :]).flatten(1)
        sums, places = (values[:, :n] for values in longer.sort(dim=1, descending=True, stable=True))
        before = (places // each)[..., None].expand(-1, -1, o)
        ranks = torch.cat([ranks.gather(1, before), (places % each)[..., None]], -1)
    ranks, missing = F.pad(ranks, (0, 0, 0, n - ranks.shape[1])), n - sums.shape[1]
    by_rank = ranks.mT
    real = inside(lengths, L)[:, None, :]
    # Summed as for one output, so that the first has the same score to the bit.
    chosen = torch.where(real, log_p.gather(-1, by_rank).mT, 0.0).contiguous()
    impossible = F.pad(sums.isneginf(), (0, missing), value=True)
    scores = chosen.sum(-1).masked_fill(impossible, -torch.inf)
    return scores, order.gather(-1, by_rank).mT * real
