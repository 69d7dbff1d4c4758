"""Writes outputs of autoregressive decoders, of one or of several: each token given those before it."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from ftor.nn import AutoregressiveDecoder
from ftor.text.batches import SourceBatch


class Writer(Protocol):
    """What writes outputs for the rows of a batch, one token after the other.

    Attributes:
        length: L of the longest output.
    """

    length: int

    def next(self) -> Tensor:
        """The probabilities (B, choices) of the next token."""

    def advance(self, choices: Tensor) -> None:
        """Write `choices` (B,)."""

    def widen(self, n: int) -> None:
        """Let each source have n outputs. Row b·n + r is the r-th output of source b."""

    def follow(self, rows: Tensor) -> None:
        """Go on after the outputs of some rows. Each row takes the place of one of the same source."""


class DecoderWriter:
    """The writer of one transducer.

    Args:
        decoder: gives P(v | i, u, y_<o).
        context: (B, n, D), what it reads.
        alignment: (B, n, d, L), P(i, u | o).
        batch: the sources.
        mixture: the probabilities (B, 1, choices), from a batch, translations (B, n, d, V) and alignment.
    """

    def __init__(
        self,
        decoder: AutoregressiveDecoder,
        context: Tensor,
        alignment: Tensor,
        batch: SourceBatch,
        mixture: Callable[[SourceBatch, Tensor, Tensor], Tensor],
    ) -> None:
        self._decoder, self._mixture = decoder, mixture
        self._context, self._alignment, self._batch = context, alignment, batch
        self._state = decoder.start(context)
        self._written = 0
        self.length = alignment.shape[-1]

    def next(self) -> Tensor:
        """See `Writer`."""
        translations = self._decoder.step(self._context, self._state).exp()
        here = self._alignment[..., self._written : self._written + 1]
        return self._mixture(self._batch, translations, here).squeeze(1)

    def advance(self, choices: Tensor) -> None:
        """See `Writer`."""
        self._state = self._decoder.advance(self._state, self._batch.as_trained(choices))
        self._written += 1

    def widen(self, n: int) -> None:
        """See `Writer`."""
        rows = torch.arange(len(self._context), device=self._context.device).repeat_interleave(n)
        self._batch, self._context = self._batch.take(rows), self._context[rows]
        self._alignment = self._alignment[rows]
        self.follow(rows)

    def follow(self, rows: Tensor) -> None:
        """See `Writer`."""
        hidden, cell = self._state
        self._state = hidden[rows], cell[rows]


class JointWriter:
    """Several writers that agree on each token.

    Args:
        writers: of the same sources and lengths.
        mean: of their probabilities, from (members, B, choices) to (B, choices).
    """

    def __init__(self, writers: Sequence[Writer], mean: Callable[[Tensor], Tensor]) -> None:
        self._writers, self._mean = writers, mean
        self.length = writers[0].length

    def next(self) -> Tensor:
        """See `Writer`."""
        return self._mean(torch.stack([writer.next() for writer in self._writers]))

    def advance(self, choices: Tensor) -> None:
        """See `Writer`."""
        for writer in self._writers:
            writer.advance(choices)

    def widen(self, n: int) -> None:
        """See `Writer`."""
        for writer in self._writers:
            writer.widen(n)

    def follow(self, rows: Tensor) -> None:
        """See `Writer`."""
        for writer in self._writers:
            writer.follow(rows)


def write(writer: Writer, given: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Choices and their probabilities given those before them, (B, L) each.

    They are the `given` choices (B, L), or else the best ones.
    """
    choices, probabilities = [], []
    for o in range(writer.length):
        mixture = writer.next()
        if given is None:
            p, choice = mixture.max(-1)
        else:
            choice = given[:, o]
            p = mixture.gather(-1, choice[:, None]).squeeze(-1)
        writer.advance(choice)
        choices.append(choice)
        probabilities.append(p)
    return torch.stack(choices, 1), torch.stack(probabilities, 1)


def beam(writer: Writer, lengths: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Likely outputs in a beam of width n: log-probabilities (B, n), −inf for none; choices (B, n, L)."""
    B = len(lengths)
    writer.widen(n)
    scores = torch.full((B, n), -torch.inf, device=lengths.device)
    scores[:, 0] = 0
    choices = torch.zeros(B, n, 0, dtype=torch.int64, device=lengths.device)
    for o in range(writer.length):
        log_p = writer.next().log()
        past = torch.full_like(log_p[0], -torch.inf)
        past[0] = 0
        log_p = torch.where((o < lengths).repeat_interleave(n)[:, None], log_p, past)
        totals = (scores[..., None] + log_p.view(B, n, -1)).flatten(1)
        # Stable, so that equal outputs always come in the same order.
        scores, places = (some[:, :n] for some in totals.sort(dim=1, descending=True, stable=True))
        parents, added = places // log_p.shape[-1], places % log_p.shape[-1]
        added = added.masked_fill(scores.isneginf(), 0)  # fills the beam, and may be no choice at all
        flat = (parents + torch.arange(B, device=lengths.device)[:, None] * n).flatten()
        choices = torch.cat([choices.flatten(0, 1)[flat].view(B, n, o), added[..., None]], -1)
        writer.follow(flat)
        writer.advance(added.flatten())
    return scores, choices
