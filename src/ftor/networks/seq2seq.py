"""What the baselines share: they write outputs from left to right, then an end."""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from ftor.config import LSTMConfig, TransformerConfig
from ftor.config.seq2seq import Seq2SeqConfig
from ftor.networks.beam import Memory, State, beam_search
from ftor.networks.n_best import with_answer
from ftor.networks.network import FLOOR, UNCONSTRAINED, Constraint, Losses, Network, Output, TokenScores
from ftor.nn.padding import inside, padded_rows
from ftor.text.batches import NO_CLASS, Batch, SourceBatch
from ftor.text.vocabulary import PAD


def with_end(source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Add an end to sources (B, n) with `lengths` (B,). Its id is that of padding, which is never read."""
    return F.pad(source, (0, 1), value=PAD), lengths + 1


def teacher_forcing(target: Tensor, lengths: Tensor, end: int) -> tuple[Tensor, Tensor]:
    """The decoder's inputs and the gold tokens, (B, L + 1) each, of targets (B, L) with `lengths` (B,).

    Gold tokens are the target and its end. The input of each is the token before it; the first input is the
    end. Positions after a target's end have no meaning.
    """
    before = F.pad(target.clamp(min=0), (1, 0), value=end)
    golds = F.pad(target, (0, 1)).scatter(1, lengths[:, None], end)
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


def as_golds(batch: SourceBatch, outputs: Sequence[Sequence[int]]) -> Batch:
    """A batch whose gold targets are the choices of one output for each source."""
    choices, lengths = padded_rows(outputs, batch.source.device)
    rows = torch.arange(len(lengths), device=batch.source.device)
    return Batch(
        batch.source, batch.source_lengths, choices, lengths, None, None, rows, vectors=batch.vectors
    )


def token_scores(losses: Tensor, outputs: Sequence[Sequence[int]]) -> list[TokenScores]:
    """The scores of outputs from −log P (B, L + 1) of their tokens and of the end after them."""
    return [
        TokenScores([-loss for loss in row[: len(output)]], end=-row[len(output)])
        for row, output in zip(losses.tolist(), outputs, strict=True)
    ]


class BeamSearched(Network):
    """A network whose outputs are found by a beam search."""

    config: Seq2SeqConfig

    @abstractmethod
    def beam(self, batch: SourceBatch, constraint: Constraint, n: int) -> list[list[Output]]:
        """The n best accepted outputs in the beam, or the best ones if none is accepted."""

    def decode(self, batch: SourceBatch, k: int = 1, constraint: Constraint = UNCONSTRAINED) -> list[Output]:
        """The best output in the beam that is accepted; `k` has no meaning."""
        return [found[0] for found in self.beam(batch, constraint, 1)]

    def n_best(self, batch: SourceBatch, k: int, n: int, constraint: Constraint) -> list[list[Output]]:
        """See `Network.n_best`. If more outputs are asked for than the beam has, it is widened for them."""
        found = self.beam(batch, constraint, n)
        if n <= self.config.beam_size(constraint.accepts is not None):
            return found
        answers = self.decode(batch, k, constraint)
        return [with_answer(answer, some, n) for answer, some in zip(answers, found, strict=True)]


class WritesFromLeft(BeamSearched):
    """A network whose outputs are written token by token by `beam_search`."""

    config: LSTMConfig | TransformerConfig

    @abstractmethod
    def begin(self, batch: SourceBatch) -> tuple[Memory, State]:
        """What the decoder knows of the sources, and its state before the first token."""

    @abstractmethod
    def step(self, memory: Memory, state: State, previous: Tensor) -> tuple[Tensor, State]:
        """See `ftor.networks.beam.Step`."""

    @abstractmethod
    def losses(self, batch: Batch) -> Tensor:
        """−log P of each gold token and of the end, (B, L + 1), 0 past the end."""

    def beam(self, batch: SourceBatch, constraint: Constraint, n: int) -> list[list[Output]]:
        """See `BeamSearched.beam`."""
        config, accepts = self.config, constraint.accepts
        sizes = max(config.beam_size(accepts is not None), n), config.expansions, config.max_steps
        return beam_search(self.step, *self.begin(batch), self.classes, *sizes, accepts, n)

    @torch.no_grad()
    def score(
        self, batch: SourceBatch, outputs: Sequence[Sequence[int]], constrained: bool = False
    ) -> list[TokenScores]:
        """See `Network.score`."""
        return token_scores(self.losses(as_golds(batch, outputs)), outputs)
