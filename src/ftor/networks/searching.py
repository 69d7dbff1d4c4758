"""What networks share that give probabilities of lengths and tokens: searching for outputs, and scoring."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic

import torch
from torch import Tensor

from ftor.config import TransducerConfig
from ftor.networks import decoding
from ftor.networks.decoding import R
from ftor.networks.n_best import best_first, n_best_outputs, with_answer
from ftor.networks.network import FLOOR, UNCONSTRAINED, Constraint, Network, Output, TokenScores
from ftor.networks.writing import Writer, beam, write
from ftor.nn.padding import padded_rows
from ftor.text.batches import Batch, SourceBatch


class SearchingNetwork(Network, Generic[R]):
    """A network that predicts the length of an output, then its tokens.

    Attributes:
        config: sizes and variants.
    """

    config: TransducerConfig

    @abstractmethod
    def read(self, batch: Batch | SourceBatch) -> R:
        """What the network makes of sources. It does not depend on the outputs."""

    @abstractmethod
    def token_probabilities(self, batch: SourceBatch, reading: R, lengths: Tensor) -> Tensor:
        """P(y_o | x, l) of each choice: (B, L, V), or with copying (B, L, V + n·C).

        Not for autoregressive decoders, in which it depends on the tokens before.
        """

    @abstractmethod
    def writer(self, batch: SourceBatch, reading: R, lengths: Tensor) -> Writer:
        """What writes outputs of `lengths` (B,) with an autoregressive decoder."""

    @property
    def is_autoregressive(self) -> bool:
        """Whether each token depends on those before it."""
        return self.config.decoder == "autoregressive"

    def best_tokens(self, batch: SourceBatch, reading: R, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The most likely choices and their probabilities, (B, L) each; if need be given those before."""
        if self.is_autoregressive:
            return write(self.writer(batch, reading, lengths))
        p, best = self.token_probabilities(batch, reading, lengths).max(-1)
        return best, p

    def given_tokens(self, batch: SourceBatch, reading: R, lengths: Tensor, choices: Tensor) -> Tensor:
        """The probabilities (B, L) of `choices` (B, L)."""
        if self.is_autoregressive:
            return write(self.writer(batch, reading, lengths), choices)[1]
        p = self.token_probabilities(batch, reading, lengths)
        return p.gather(-1, choices[..., None]).squeeze(-1)

    def beam_tokens(self, batch: SourceBatch, reading: R, lengths: Tensor, n: int) -> tuple[Tensor, Tensor]:
        """Likely outputs of an autoregressive decoder: log-probabilities (B, n) and choices (B, n, L)."""
        return beam(self.writer(batch, reading, lengths), lengths, n)

    def decode(self, batch: SourceBatch, k: int = 1, constraint: Constraint = UNCONSTRAINED) -> list[Output]:
        """The best output among those of the k most likely lengths; see `ftor.networks.decoding`."""
        allowed = self.allowed_lengths(batch, constraint)
        return decoding.decode(self, batch, k, constraint.search, allowed).outputs()

    def n_best(self, batch: SourceBatch, k: int, n: int, constraint: Constraint) -> list[list[Output]]:
        """See `Network.n_best`. Exact for independent decoders; see `ftor.networks.n_best`."""
        allowed = self.allowed_lengths(batch, constraint)
        found = n_best_outputs(self, batch, k, n, constraint.search and constraint.n_best, allowed)
        ranked = [best_first(some) for some in found]
        rows = [row for row, some in enumerate(ranked) if self.is_autoregressive or not some]
        if rows:  # the answer is not the best of the beam, or the grammar derives nothing
            left = batch.take(torch.tensor(rows, device=batch.source.device))
            answers = SearchingNetwork.decode(self, left, k, constraint)
            for row, answer in zip(rows, answers, strict=True):
                ranked[row] = with_answer(answer, ranked[row], n)
        return [some[:n] for some in ranked]

    @torch.no_grad()
    def score(
        self, batch: SourceBatch, outputs: Sequence[Sequence[int]], constrained: bool = False
    ) -> list[TokenScores]:
        """See `Network.score`. Every output must be one that its source can reach."""
        longest = max(map(len, outputs))
        splits = self.config.reordered(batch.source.shape[1], longest)
        if len(outputs) > 1 and len(outputs) * splits**3 > decoding.SPLITS_AT_ONCE:
            half = len(outputs) // 2
            rows = torch.arange(len(outputs), device=batch.source.device)
            return [
                *self.score(batch.take(rows[:half]), outputs[:half], constrained),
                *self.score(batch.take(rows[half:]), outputs[half:], constrained),
            ]
        if len(outputs) == 1:
            decoding.check_length(self.config, batch.source.shape[1], 0)
            decoding.check_length(self.config, 0, longest)
        choices, lengths = padded_rows(outputs, batch.source.device)
        reading = self.read(batch)
        p = self.given_tokens(batch, reading, lengths, choices)
        log_p = (p + FLOOR if constrained else p.clamp(min=torch.finfo(p.dtype).tiny)).log()
        length_scores = reading.fertility.log_prob_length(lengths)
        scores = zip(log_p.tolist(), length_scores.tolist(), outputs, strict=True)
        return [TokenScores(tokens[: len(output)], length) for tokens, length, output in scores]

    def allowed_lengths(self, batch: SourceBatch, constraint: Constraint) -> Tensor | None:
        """A mask (most + 1,) of the lengths that outputs may have; None: any."""
        most = self.config.longest_target(batch.source.shape[1])
        return None if constraint.lengths is None else constraint.lengths(most)

    def longest_output(self, positions: int) -> int:
        """Every source position is copied at most `max_fertility` times."""
        return self.config.longest_target(positions)
