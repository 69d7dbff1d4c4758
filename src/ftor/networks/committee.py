"""A committee: several transducers whose probabilities are averaged before the exact search."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Self, cast

import torch
from torch import Tensor, nn

from ftor.config import Config
from ftor.distributions.fertility import TopLengths, most_likely_lengths
from ftor.networks import decoding
from ftor.networks.alignment import Alignment, Reading
from ftor.networks.n_best import best_first, n_best_outputs
from ftor.networks.network import FLOOR, UNCONSTRAINED, Constraint, Losses, Network, Output, TokenScores
from ftor.networks.transducer import Transducer
from ftor.nn import PretrainedEmbedding
from ftor.nn.padding import padded_rows
from ftor.text.batches import Batch, SourceBatch
from ftor.text.vocabularies import Vocabularies

Mean = Literal["log", "arithmetic"]
"""Whether the logarithms of probabilities are averaged, or the probabilities themselves."""


class MeanLengths(NamedTuple):
    """The mean of several distributions over lengths. The mean of logarithms does not sum to 1.

    Attributes:
        log_probs: (B, n·d + 1).
    """

    log_probs: Tensor

    def top_lengths(self, k: int, allowed: Tensor | None = None) -> TopLengths:
        """As of `Fertility`, with a mask (B, n·d + 1)."""
        positive = torch.arange(self.log_probs.shape[1], device=self.log_probs.device) > 0
        return most_likely_lengths(self.log_probs, k, positive if allowed is None else positive & allowed)

    def log_prob_length(self, lengths: Tensor) -> Tensor:
        """The log-probabilities (B,) of lengths (B,)."""
        return self.log_probs.gather(1, lengths[:, None]).squeeze(1)


class Readings(NamedTuple):
    """What each member makes of sources, and the mean of their lengths."""

    members: tuple[Reading, ...]
    fertility: MeanLengths

    def take(self, rows: Tensor) -> Self:
        """Some of the rows."""
        lengths = MeanLengths(self.fertility.log_probs[rows])
        return type(self)(tuple(reading.take(rows) for reading in self.members), lengths)


class Committee(Network):
    """Transducers with independent decoders that read and write the same words.

    P(l|x) and, for each length, P(y_o|x,l) of each token are the means over the members. The search is that
    of a single transducer, so it is exact.

    Args:
        members: the transducers, with the same ids and the same `max_fertility`.
        mean: "log" takes the mean of log (P + FLOOR) of tokens and of log P(l|x), "arithmetic" that of the
            probabilities.
    """

    def __init__(self, members: Sequence[Transducer], mean: Mean = "log") -> None:
        super().__init__()
        self.members, self.mean = nn.ModuleList(members), mean
        self.config, self.classes = members[0].config, members[0].classes

    @classmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """A committee is made of trained networks."""
        raise TypeError("a committee is not built from a configuration")

    @property
    def transducers(self) -> list[Transducer]:
        """The members."""
        return [cast(Transducer, member) for member in self.members]

    def forward(self, batch: Batch) -> Losses:
        """The mean losses of the members."""
        terms = zip(*(member(batch) for member in self.transducers), strict=True)
        return Losses(*(torch.stack(term).mean(0) for term in terms))

    def read(
        self,
        source: Tensor,
        lengths: Tensor,
        emphasised: Tensor | None = None,
        vectors: Tensor | None = None,
    ) -> Readings:
        """What the members make of `source` (B, n) with `lengths` (B,)."""
        readings = tuple(member.read(source, lengths, emphasised, vectors) for member in self.transducers)
        scores = torch.stack([reading.fertility.length_log_probs for reading in readings])
        mean = scores.mean(0) if self.mean == "log" else scores.logsumexp(0) - math.log(len(readings))
        return Readings(readings, MeanLengths(mean))

    def token_probabilities(self, batch: SourceBatch, reading: Readings, lengths: Tensor) -> Tensor:
        """The mean of P(y_o | x, l) of each choice, (B, L, V or V + n)."""
        both = zip(self.transducers, reading.members, strict=True)
        p = torch.stack([member.token_probabilities(batch, own, lengths) for member, own in both])
        if self.mean == "arithmetic":
            return p.mean(0)
        return ((p + FLOOR).log().mean(0).exp() - FLOOR).clamp(min=0)

    def best_tokens(self, batch: SourceBatch, reading: Readings, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The most likely choices and their probabilities, (B, L) each."""
        p, best = self.token_probabilities(batch, reading, lengths).max(-1)
        return best, p

    def beam_tokens(
        self, batch: SourceBatch, reading: Readings, lengths: Tensor, n: int
    ) -> tuple[Tensor, Tensor]:
        """No decoder is autoregressive."""
        raise TypeError("a committee needs no beam")

    def decode(self, batch: SourceBatch, k: int = 1, constraint: Constraint = UNCONSTRAINED) -> list[Output]:
        """The best output among those of the k most likely lengths."""
        allowed = self._allowed_lengths(batch, constraint)
        return decoding.decode(self, batch, k, constraint.search, allowed).outputs()

    def n_best(self, batch: SourceBatch, k: int, n: int, constraint: Constraint) -> list[list[Output]]:
        """See `Network.n_best`. The outputs are exact."""
        allowed = self._allowed_lengths(batch, constraint)
        found = n_best_outputs(self, batch, k, n, constraint.search and constraint.n_best, allowed)
        ranked = [best_first(some)[:n] for some in found]
        rows = [row for row, some in enumerate(ranked) if not some]
        if rows:  # the grammar derives nothing
            left = batch.take(torch.tensor(rows, device=batch.source.device))
            for row, answer in zip(rows, self.decode(left, k, constraint), strict=True):
                ranked[row] = [answer]
        return ranked

    @torch.no_grad()
    def score(
        self, batch: SourceBatch, outputs: Sequence[Sequence[int]], constrained: bool = False
    ) -> list[TokenScores]:
        """See `Network.score`. Outputs are scored one at a time, each for its length."""
        scores = []
        for row, output in enumerate(outputs):
            one = batch.take(torch.tensor([row], device=batch.source.device))
            decoding.check_length(self.config, one.source.shape[1], 0)
            decoding.check_length(self.config, 0, len(output))
            choices, lengths = padded_rows([output], batch.source.device)
            reading = self.read(one.source, one.source_lengths, one.emphasised, one.vectors)
            p = self.token_probabilities(one, reading, lengths).gather(-1, choices[..., None]).flatten()
            log_p = (p + FLOOR if constrained else p.clamp(min=torch.finfo(p.dtype).tiny)).log()
            length = reading.fertility.log_prob_length(lengths)
            scores.append(TokenScores(log_p.tolist(), length.item()))
        return scores

    def longest_output(self, positions: int) -> int:
        """As of each member."""
        return self.config.longest_target(positions)

    def explain(self, batch: SourceBatch, lengths: Tensor) -> tuple[Reading, Alignment]:
        """How the first member aligns sources with outputs of `lengths` (B,)."""
        return self.transducers[0].explain(batch, lengths)

    @property
    def vectors(self) -> PretrainedEmbedding | None:
        """Those of the first member. All have the same."""
        return self.transducers[0].vectors

    def add_vectors(self, vectors: Tensor) -> None:
        """See `Network.add_vectors`."""
        for member in self.transducers:
            member.add_vectors(vectors)

    def forget_vectors(self) -> None:
        """See `Network.forget_vectors`."""
        for member in self.transducers:
            member.forget_vectors()

    def _allowed_lengths(self, batch: SourceBatch, constraint: Constraint) -> Tensor | None:
        most = self.config.longest_target(batch.source.shape[1])
        return None if constraint.lengths is None else constraint.lengths(most)
