"""The transducer: fertility, reordering and translation of each copy, in either order (section 6)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ftor.config import TransducerConfig
from ftor.distributions import Fertility, SeparablePermutation
from ftor.nn import (
    AutoregressiveDecoder,
    BiLSTM,
    FertilityLayer,
    HighwayBiLSTM,
    IndependentDecoder,
    PretrainedEmbedding,
    ReorderingLayer,
)
from ftor.nn.padding import inside
from ftor.ops.dispatch import LOG_ZERO
from ftor.text.batches import Batch, SourceBatch
from ftor.text.vocabulary import COPY

FLOOR = 1e-10
"""Added to a token's probability, in the loss and under a grammar: an impossible one costs 23 nats, not ∞."""

Search = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From the log-probabilities (B, L, C) of `SourceBatch.columns` and lengths (B,), the log-probability (B,) of
the best output, −inf if there is none, and its columns (B, L)."""

SPLITS_AT_ONCE = 3.2e7
"""Σ l³ over the rows that are reordered together when predicting: about 400 MB."""


class Reading(NamedTuple):
    """What the model makes of a source, whatever the output's length.

    Attributes:
        x: (B, n, D) embeddings.
        inner_x: (B, n, P), x as the inner encoder of F→R reads it, else None.
        context: (B, n, D), what the decoder translates.
        fertility: P(f | x); in R→F that of permuted positions.
        permutation: P(R | x) in R→F, else None.
    """

    x: Tensor
    inner_x: Tensor | None
    context: Tensor
    fertility: Fertility
    permutation: SeparablePermutation | None


class Alignment(NamedTuple):
    """Where each output comes from, given the output's length.

    Attributes:
        copies: F̃, (B, n, L, d).
        permutation: P(R), over copies in F→R, over source positions in R→F; None without reordering.
        whole: A[b,i,u,o], (B, n, d, L): output o is the u-th copy of source token i.
    """

    copies: Tensor
    permutation: SeparablePermutation | None
    whole: Tensor


class Losses(NamedTuple):
    """Negative log-likelihoods of each example, (B,): of its tokens, its length, its wanted alignments."""

    tokens: Tensor
    length: Tensor
    alignment: Tensor


class Decoded(NamedTuple):
    """The best output that was found for each source.

    Attributes:
        choices: (B, L); v < V is target class v, V + i is source token i.
        lengths: (B,).
        scores: (B,), log P(l|x) + log P(y|x,l).
        length_scores: (B,), log P(l|x).
    """

    choices: Tensor
    lengths: Tensor
    scores: Tensor
    length_scores: Tensor


class Transducer(nn.Module):
    """F→R, R→F or fertility alone, with an independent or autoregressive decoder, copying or not.

    Args:
        config: sizes and variants.
        source_size: number of source ids.
        classes: V, number of target classes; the first is "copy" if the model copies.
        vector_size: E of pretrained vectors; None for embeddings that are learned from nothing.
        emphasis: whether sources may have tokens to emphasise.
    """

    def __init__(
        self,
        config: TransducerConfig,
        source_size: int,
        classes: int,
        vector_size: int | None = None,
        emphasis: bool = False,
    ) -> None:
        super().__init__()
        self.config, self.classes = config, classes
        D, d = config.width, config.max_fertility
        self.embedding: nn.Embedding | PretrainedEmbedding
        if vector_size is not None:
            self.embedding = PretrainedEmbedding(source_size, vector_size, D, config.train_vectors)
        else:
            self.embedding = nn.Embedding(source_size, D)
            # Standard normal (torch's default) is large beside ρ times the context, so that the decoder
            # learns tokens; Xavier-uniform (the released models') is small, so that it learns neighbours too.
            if config.embedding == "xavier":
                nn.init.xavier_uniform_(self.embedding.weight)
        self.source_encoder = self._encoder(encoders=2)  # the two encoders that read the source itself
        self.fertility = FertilityLayer(D, d, config.fertility_hidden, config.dropout, config.temperature)
        if config.order != "fertility":
            self.inner_encoder = self._encoder(encoders=1)  # the one that reads the first step's result
            self.reordering = ReorderingLayer(D, config.scorer_hidden, config.dropout)
        if config.order == "fertility-reordering":
            self.copy_embedding = nn.Parameter(torch.randn(d, D))
        sizes = (D, classes, d, config.decoder_hidden, config.dropout)
        self.decoder = (
            IndependentDecoder(*sizes)
            if config.decoder == "independent"
            else AutoregressiveDecoder(*sizes, config.target_width)
        )
        self.emphasis = nn.Parameter(torch.randn(D)) if emphasis else None  # h

    def _encoder(self, encoders: int) -> HighwayBiLSTM | BiLSTM:
        config = self.config
        if config.encoder == "plain":
            return BiLSTM(config.width, config.encoder_layers, encoders, config.layer_dropout)
        return HighwayBiLSTM(
            config.width, config.encoder_layers, encoders, config.recurrent_dropout, config.layer_dropout
        )

    def read(self, source: Tensor, lengths: Tensor, emphasised: Tensor | None = None) -> Reading:
        """Encode `source` (B, n) ids with `lengths` (B,); `emphasised` (B, n) is e in x = embedding + e·h."""
        # Encoders begin with a linear map: it takes less to map each different token once, then to pick.
        tokens, places = self._different_tokens(source, emphasised)
        x = F.embedding(places, tokens)
        first, second = self.source_encoder.encode(
            F.embedding(places, self.source_encoder.project(tokens)), lengths
        )
        context = x + self.config.context_scale * second
        if self.config.fertility_skip and self.config.order != "reordering-fertility":
            first = first + x
        if self.config.order == "fertility":
            return Reading(x, None, context, self.fertility(first, lengths), None)
        inner_x = F.embedding(places, self.inner_encoder.project(tokens))
        if self.config.order == "fertility-reordering":
            return Reading(x, inner_x, context, self.fertility(first, lengths), None)
        permutation = self.reordering(first, lengths)
        permute = permutation.marginals.mT
        (inner,) = self.inner_encoder.encode(permute @ inner_x, lengths)
        return Reading(x, None, context, self.fertility(inner + permute @ x, lengths), permutation)

    def _different_tokens(self, source: Tensor, emphasised: Tensor | None) -> tuple[Tensor, Tensor]:
        """The embeddings (W, D) of the batch's different tokens, and which of them is where (B, n)."""
        if self.emphasis is None or emphasised is None:
            ids, places = torch.unique(source, return_inverse=True)
            return self.embedding(ids), places
        # A word that is emphasised in one place and not in another is two tokens.
        kinds, places = torch.unique(2 * source + emphasised, return_inverse=True)
        return self.embedding(kinds // 2) + (kinds % 2)[:, None] * self.emphasis, places

    def align(self, reading: Reading, lengths: Tensor) -> Alignment:
        """Align the source with outputs of `lengths` (B,)."""
        copies = reading.fertility.marginals(lengths)
        by_copy = copies.transpose(2, 3)
        B, n, d, L = by_copy.shape
        if self.config.order == "fertility":
            return Alignment(copies, None, by_copy)
        if reading.permutation is not None:  # R→F
            with torch.autocast(copies.device.type, enabled=False):
                whole = reading.permutation.marginals @ by_copy.reshape(B, n, d * L)
            return Alignment(copies, reading.permutation, whole.view(B, n, d, L))
        assert reading.inner_x is not None
        by_token, which_copy = by_copy.sum(2).mT, copies.sum(1)
        h = by_token @ reading.x + which_copy @ self.copy_embedding
        inner_h = by_token @ reading.inner_x + which_copy @ self.inner_encoder.project(self.copy_embedding)
        (inner,) = self.inner_encoder.encode(inner_h, lengths)
        permutation = self.reordering(inner + h, lengths)
        with torch.autocast(copies.device.type, enabled=False):  # probabilities keep their precision
            whole = by_copy.reshape(B, n * d, L) @ permutation.marginals
        return Alignment(copies, permutation, whole.view(B, n, d, L))

    def forward(self, batch: Batch) -> Losses:
        """The loss terms of gold outputs; every target length must be one that the source can reach."""
        reading = self.read(batch.source, batch.source_lengths, batch.emphasised)
        whole = self.align(reading, batch.target_lengths).whole
        target = batch.target.clamp(min=0)
        gold = self.decoder.gold(reading.context, batch.source_lengths, target).to(whole.dtype)
        weights = whole
        if batch.copyable is not None:
            right = batch.copyable | (batch.target != COPY)[:, None, :]
            weights = whole * right[:, :, None, :]
        p = (weights * gold).sum((1, 2)).masked_fill(batch.target < 0, 0)
        tokens = -(inside(batch.target_lengths, p.shape[1]) * (p + FLOOR).log()).sum(1)
        length = -reading.fertility.log_prob_length(batch.target_lengths)
        if batch.aligned is None:
            return Losses(tokens, length, torch.zeros_like(tokens))
        alignment = -((whole.sum(2) + 1e-30).log() * batch.aligned).sum((1, 2))
        return Losses(tokens, length, alignment)

    @torch.no_grad()
    def decode(
        self, batch: SourceBatch, k: int = 1, search: Search | None = None, allowed: Tensor | None = None
    ) -> Decoded:
        """The best output among those of the k most likely lengths, found greedily if autoregressive.

        Args:
            batch: the sources; with `search`, their `columns` too.
            k: how many lengths.
            search: finds the best output of a length among some only. Where it finds none, the output is the
                most likely one, of any length. Not for autoregressive decoders.
            allowed: (most + 1,) which lengths outputs may have; those beyond `most` may not. It is passed
                over for sources that can reach none of them.
        """
        B, n = batch.source.shape
        if self.config.order == "reordering-fertility" and B > 1 and B * n**3 > SPLITS_AT_ONCE:
            order = batch.source_lengths.argsort()
            parts = [self.decode(batch.take(rows), k, search, allowed) for rows in order.tensor_split(2)]
            return _together(parts, order)
        reading = self.read(batch.source, batch.source_lengths, batch.emphasised)
        best = self._best_length(batch, reading, k, search, allowed)
        nothing = best.scores <= LOG_ZERO
        if search is not None and bool(nothing.any()):
            found, rows = ((nothing == value).nonzero().squeeze(1) for value in (False, True))
            rest = self._best_length(batch.take(rows), _take(reading, rows), 1, None, None)
            before = Decoded(*(values[found] for values in best))
            best = _together([before, rest], torch.cat([found, rows]))
        return best._replace(choices=best.choices[:, : int(best.lengths.max())])

    def _best_length(
        self, batch: SourceBatch, reading: Reading, k: int, search: Search | None, allowed: Tensor | None
    ) -> Decoded:
        best: Decoded | None = None
        lengths_and_scores = reading.fertility.top_lengths(k, self._allowed(batch, allowed))
        for log_probs, lengths in zip(*(t.unbind(1) for t in lengths_and_scores), strict=True):
            found = self._decode_in_parts(batch, reading, lengths, log_probs, search)
            best = found if best is None else _better(best, found)
        assert best is not None
        return best

    def _allowed(self, batch: SourceBatch, allowed: Tensor | None) -> Tensor | None:
        """A mask (B, n·d + 1) of the lengths that each source may have."""
        if allowed is None:
            return None
        most = batch.source.shape[1] * self.config.max_fertility
        mask = F.pad(allowed, (0, max(most + 1 - len(allowed), 0)))[: most + 1].to(batch.source.device)
        reach = batch.source_lengths * self.config.max_fertility
        possible = mask & (torch.arange(most + 1, device=mask.device) <= reach[:, None])
        return possible | ~possible.any(1, keepdim=True)

    def _decode_in_parts(
        self,
        batch: SourceBatch,
        reading: Reading,
        lengths: Tensor,
        log_probs: Tensor,
        search: Search | None,
    ) -> Decoded:
        """Decode some rows at a time, so that long outputs do not exhaust the memory."""
        B, L = len(lengths), int(lengths.max())
        if B == 1 or B * L**3 <= SPLITS_AT_ONCE:
            return self._decode(batch, reading, lengths, log_probs, search)
        order = lengths.argsort()
        parts = [
            self._decode_in_parts(
                batch.take(rows), _take(reading, rows), lengths[rows], log_probs[rows], search
            )
            for rows in order.tensor_split(2)
        ]
        return _together(parts, order)

    def _decode(
        self,
        batch: SourceBatch,
        reading: Reading,
        lengths: Tensor,
        length_scores: Tensor,
        search: Search | None,
    ) -> Decoded:
        whole = self.align(reading, lengths).whole
        if isinstance(self.decoder, AutoregressiveDecoder):
            choices, p = self._greedy(batch, reading, whole)
        else:
            mixture = self._mixture(batch, self.decoder(reading.context).exp(), whole)
            if search is not None:
                return _searched(search, batch, mixture, lengths, length_scores)
            p, choices = mixture.max(-1)
        real = inside(lengths, p.shape[1])
        log_p = p.clamp(min=torch.finfo(p.dtype).tiny).log()
        # A length of probability 0 stands in where fewer than k are possible.
        scores = (length_scores + (real * log_p).sum(1)).clamp(min=LOG_ZERO)
        return Decoded(choices * real, lengths, scores, length_scores)

    def _greedy(self, batch: SourceBatch, reading: Reading, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Choices and their probabilities (B, L), each the best given those before it."""
        decoder = self.decoder
        assert isinstance(decoder, AutoregressiveDecoder)
        state = decoder.start(reading.context)
        choices, probabilities = [], []
        for o in range(whole.shape[-1]):
            mixture = self._mixture(batch, decoder.step(reading.context, state).exp(), whole[..., o : o + 1])
            p, choice = mixture.squeeze(1).max(-1)
            state = decoder.advance(state, batch.as_trained(choice))
            choices.append(choice)
            probabilities.append(p)
        return torch.stack(choices, 1), torch.stack(probabilities, 1)

    def _mixture(self, batch: SourceBatch, translations: Tensor, whole: Tensor) -> Tensor:
        """P(y_o | x, l) of each class: (B, L, V); with copying then of each source token: (B, L, V + n).

        A token's probability is that of its own class and of all its copies together, and stands with the
        class if it has one.
        """
        by_class = whole.flatten(1, 2).mT @ translations.flatten(1, 2)
        if batch.copies is None:
            return by_class
        copy = (whole * translations[..., COPY, None]).sum(2).mT  # (B, L, n): a copy of source token i
        by_class[..., COPY] = 0
        choices = batch.copies.choices
        mixture = F.pad(by_class, (0, choices.shape[1]))
        places = choices.clamp(min=0)[:, None, :].expand_as(copy)
        return mixture.scatter_add(-1, places, copy * (choices >= 0)[:, None, :])


def _searched(
    search: Search, batch: SourceBatch, mixture: Tensor, lengths: Tensor, length_scores: Tensor
) -> Decoded:
    """The outputs that `search` finds under the probabilities `mixture` (B, L, V or V + n)."""
    columns = batch.columns
    assert columns is not None
    places = columns.clamp(min=0)[:, None, :].expand(-1, mixture.shape[1], -1)
    log_p = (mixture.gather(-1, places) + FLOOR).log()
    token_scores, found = search(log_p.masked_fill(columns[:, None, :] < 0, -torch.inf), lengths)
    # One column more, because there may be none: a grammar of copies alone, and a model that does not copy.
    choices = F.pad(columns, (0, 1)).gather(1, found.clamp(min=0)) * (found >= 0)
    scores = (length_scores + token_scores).clamp(min=LOG_ZERO)
    return Decoded(choices, lengths, scores, length_scores)


def _take(reading: Reading, rows: Tensor) -> Reading:
    permutation = reading.permutation
    return Reading(
        reading.x[rows],
        None if reading.inner_x is None else reading.inner_x[rows],
        reading.context[rows],
        reading.fertility.take(rows),
        None if permutation is None else permutation.take(rows),
    )


def _choices(*parts: Decoded) -> list[Tensor]:
    """The choices of several, padded to the longest."""
    L = max(part.choices.shape[1] for part in parts)
    return [F.pad(part.choices, (0, L - part.choices.shape[1])) for part in parts]


def _together(parts: list[Decoded], order: Tensor) -> Decoded:
    """Put the rows of several together, and back into place: row `order[i]` is the i-th of them."""
    back = order.argsort()
    rest = (torch.cat(values)[back] for values in zip(*(part[1:] for part in parts), strict=True))
    return Decoded(torch.cat(_choices(*parts))[back], *rest)


def _better(first: Decoded, second: Decoded) -> Decoded:
    """Row by row the one with the greater score; of equal ones the first."""
    choices = _choices(first, second)
    wins = second.scores > first.scores
    return Decoded(
        torch.where(wins[:, None], choices[1], choices[0]),
        *(torch.where(wins, new, old) for old, new in zip(first[1:], second[1:], strict=True)),
    )
