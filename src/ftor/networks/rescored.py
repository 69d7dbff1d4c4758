"""Transducers whose candidates are ranked again by LSTMs that write from left to right.

A transducer translates each copy by itself, so it cannot tell which parts go together. An LSTM can, but
alone it does not keep to a grammar. Both are trained on the same batches. Candidates are the transducer's
exact n-best outputs of its likeliest lengths under the grammar, and the LSTM's own answer.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TypeVar, cast

import torch
from torch import Tensor

from ftor.config import LSTMConfig, TransducerConfig
from ftor.networks.alignment import Reading
from ftor.networks.committee import Committee, Mean, Readings
from ftor.networks.decoding import SPLITS_AT_ONCE, R
from ftor.networks.lstm import LSTMSeq2Seq
from ftor.networks.lstm_members import LSTMMembers
from ftor.networks.n_best import best_first, n_best_outputs, with_answer
from ftor.networks.network import FLOOR, UNCONSTRAINED, Constraint, Losses, Output
from ftor.networks.searching import SearchingNetwork
from ftor.networks.transducer import Transducer
from ftor.nn.padding import inside, padded_rows
from ftor.text.batches import Batch, SourceBatch

WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
"""Of the transducer, tried on dev pairs."""
AT_ONCE = 256
"""How many candidates the LSTM scores at once."""
AnyBatch = TypeVar("AnyBatch", Batch, SourceBatch)
Candidate = tuple[Output, float]
"""An output of the transducer, and its score by the LSTM."""


class Rescoring(SearchingNetwork[R]):
    """Candidates of a transducer, or of several together, that LSTMs rank again."""

    _kept: dict[str, list[list[Candidate]]] | None = None
    """Candidates by batch, while the weight is fitted."""

    @property
    @abstractmethod
    def rescored(self) -> "Sequence[Rescored]":
        """The transducers that have an LSTM beside them."""

    @property
    @abstractmethod
    def ranker(self) -> LSTMSeq2Seq | LSTMMembers:
        """The LSTM that ranks, or several that write together."""

    def _in_words(self, batch: AnyBatch) -> AnyBatch:
        """The batch as the ranker reads it."""
        return batch

    @torch.no_grad()
    def decode(self, batch: SourceBatch, k: int = 1, constraint: Constraint = UNCONSTRAINED) -> list[Output]:
        """The candidate of highest score, w · log P of the transducer + (1 − w) · log P of the LSTM."""
        batch = self._in_words(batch)
        if self._kept is None:
            return [ranked[0] for ranked in self._ranked(batch, self._candidates(batch, k, constraint))]
        key = str((k, constraint.n_best is None, batch.source.tolist(), batch.source_lengths.tolist()))
        if key not in self._kept:
            self._kept[key] = self._judged(batch, self._candidates(batch, k, constraint))
        return [ranked[0] for ranked in self._weighed(self._kept[key])]

    @torch.no_grad()
    def n_best(self, batch: SourceBatch, k: int, n: int, constraint: Constraint) -> list[list[Output]]:
        """See `Network.n_best`. The outputs are candidates, which are as many as configured."""
        batch = self._in_words(batch)
        candidates = self._candidates(batch, k, constraint)
        ranked = self._ranked(batch, candidates)
        if constraint.n_best is None:  # `decode` has only two candidates
            allowed = self.allowed_lengths(batch, constraint)
            more = n_best_outputs(self, batch, k, n, None, allowed)
            both = [[*some, *best_first(others)[:n]] for some, others in zip(candidates, more, strict=True)]
            wider = self._ranked(batch, both)
            ranked = [with_answer(some[0], others, n) for some, others in zip(ranked, wider, strict=True)]
        return [_different(some)[:n] for some in ranked]

    def _candidates(self, batch: SourceBatch, k: int, constraint: Constraint) -> list[list[Output]]:
        """What is ranked: the transducer's outputs, then the LSTM's answer."""
        own = super().decode(batch, k, constraint)
        candidates = [[output] for output in own]
        if constraint.n_best is not None and self.config.candidates > 1:
            allowed = self.allowed_lengths(batch, constraint)
            more = n_best_outputs(self, batch, k, self.config.candidates, constraint.n_best, allowed)
            candidates = [some or [output] for output, some in zip(own, more, strict=True)]
        self._add_written(batch, candidates, constraint)
        return candidates

    def fit_to_dev(self, score: Callable[[], float]) -> bool:
        """Keep the weight of the best score. Of equal ones, the one nearest to that of the configuration.

        The candidates are the same for every weight, so they are searched once.
        """
        scores = {}
        self._kept = {}
        try:
            for weight in WEIGHTS:
                self._set_weight(weight)
                scores[weight] = score(), -abs(weight - self.config.rescoring_weight)
        finally:
            self._kept = None
        self._set_weight(max(scores, key=scores.__getitem__))
        return True

    def _set_weight(self, weight: float) -> None:
        for one in self.rescored:
            one.weight.fill_(weight)

    def _add_written(
        self, batch: SourceBatch, candidates: list[list[Output]], constraint: Constraint
    ) -> None:
        """Add the LSTM's answers that are allowed, scored by the transducer."""
        written = self.ranker.decode(batch, 1, constraint)
        reach = (batch.source_lengths * self.config.max_fertility).tolist()
        rows, outputs = [], []
        for row, output in enumerate(written):
            new = all(output.choices != other.choices for other in candidates[row])
            fits = 0 < len(output.choices) <= reach[row]
            allowed = constraint.accepts is None or (fits and constraint.accepts(row, output.choices))
            if new and fits and allowed:
                rows.append(row)
                outputs.append(output)
        if rows:
            taken = batch.take(torch.tensor(rows, device=batch.source.device))
            for row, output in zip(rows, self._scored(taken, outputs), strict=True):
                candidates[row].append(output)

    def _scored(self, batch: SourceBatch, outputs: list[Output]) -> list[Output]:
        """Outputs, one per row, with the transducer's log P(l|x) + log P(y|x,l)."""
        choices, lengths = padded_rows([output.choices for output in outputs], batch.source.device)
        if len(outputs) > 1 and len(outputs) * choices.shape[1] ** 3 > SPLITS_AT_ONCE:
            rows = torch.arange(len(outputs), device=batch.source.device).tensor_split(2)
            parts = ((part, [outputs[row] for row in part.tolist()]) for part in rows)
            return [output for part, some in parts for output in self._scored(batch.take(part), some)]
        reading = self.read(batch)
        length_scores = reading.fertility.log_prob_length(lengths)
        p = self.token_probabilities(batch, reading, lengths).gather(-1, choices[..., None]).squeeze(-1)
        scores = length_scores + ((p + FLOOR).log() * inside(lengths, p.shape[1])).sum(1)
        scored = zip(outputs, scores.tolist(), length_scores.tolist(), strict=True)
        return [Output(output.choices, score, length) for output, score, length in scored]

    def _ranked(self, batch: SourceBatch, candidates: list[list[Output]]) -> list[list[Output]]:
        """Candidates by both scores, best first. Equal ones keep their order."""
        return self._weighed(self._judged(batch, candidates))

    def _judged(self, batch: SourceBatch, candidates: list[list[Output]]) -> list[list[Candidate]]:
        """Candidates with the LSTM's scores."""
        flat = [(row, place) for row, some in enumerate(candidates) for place in range(len(some))]
        flat.sort(key=lambda at: len(candidates[at[0]][at[1]].choices))  # so that little is padded
        score = self.ranker.scorer(batch)
        judged = [[(output, 0.0) for output in some] for some in candidates]
        for first in range(0, len(flat), AT_ONCE):
            part = flat[first : first + AT_ONCE]
            outputs = [candidates[row][place] for row, place in part]
            rows = torch.tensor([row for row, _ in part], device=batch.source.device)
            found = score(rows, [output.choices for output in outputs]).tolist()
            for (row, place), judgement in zip(part, zip(outputs, found, strict=True), strict=True):
                judged[row][place] = judgement
        return judged

    def _weighed(self, judged: list[list[Candidate]]) -> list[list[Output]]:
        weight = fmean(one.weight.item() for one in self.rescored)
        ranked = [
            [
                output._replace(rank_score=weight * output.score + (1 - weight) * score)
                for output, score in some
            ]
            for some in judged
        ]
        return [sorted(some, key=lambda output: -(output.rank_score or 0.0)) for some in ranked]


class Rescored(Rescoring[Reading], Transducer):
    """A transducer with an LSTM beside it. The arguments are those of `Transducer`."""

    def __init__(
        self,
        config: TransducerConfig,
        source_size: int,
        classes: int,
        vector_size: int | None = None,
        emphasis: bool = False,
        reader_size: int | None = None,
    ) -> None:
        super().__init__(config, source_size, classes, vector_size, emphasis, reader_size)
        sizes = LSTMConfig(
            architecture="lstm",
            width=config.width,
            hidden=config.rescorer_hidden,
            recurrent_dropout=config.recurrent_dropout,
            layer_dropout=config.layer_dropout,
        )
        self.rescorer = LSTMSeq2Seq(sizes, source_size, classes, vector_size, reader_size)
        if self.vectors is not None and self.rescorer.vectors is not None:
            self.vectors.lead(self.rescorer.vectors)
        self.weight: Tensor
        self.register_buffer("weight", torch.tensor(config.rescoring_weight))

    def forward(self, batch: Batch) -> Losses:
        """The loss terms of the transducer; that of the tokens has the LSTM's mean per token added.

        The mean keeps the LSTM's gradients small beside the transducer's, whose norm is clipped with them.
        """
        batch = self._in_words(batch)
        losses = super().forward(batch)
        return losses._replace(tokens=losses.tokens + self._mean_losses(batch))

    def _mean_losses(self, batch: Batch) -> Tensor:
        """−log P(y|x) of the LSTM per token, the end included, (B,)."""
        losses: Losses = self.rescorer(batch)
        return losses.tokens

    def _in_words(self, batch: AnyBatch) -> AnyBatch:
        """The batch with the vectors of words, if the reader gives those of pieces. Its layers run once."""
        if batch.piece_positions is None:
            return batch
        return replace(batch, vectors=self.vectors_in_context(batch), piece_positions=None)

    @property
    def rescored(self) -> Sequence["Rescored"]:
        """It alone."""
        return [self]

    @property
    def ranker(self) -> LSTMSeq2Seq:
        """The LSTM."""
        return self.rescorer

    def fit_reader(self, vectors: Tensor, top: Mapping[str, Tensor] | None = None) -> None:
        """See `Network.fit_reader`."""
        super().fit_reader(vectors, top)
        self.rescorer.fit_reader(vectors)


class RescoredCommittee(Rescoring[Readings], Committee):
    """A committee of transducers, whose candidates are ranked by all of their LSTMs together.

    The weight of the transducers is the mean of the members'.

    Args:
        members: transducers with an LSTM each. They read no encoder whose layers are trained.
        mean: as of `Committee`.
    """

    member = Rescored

    def __init__(self, members: Sequence[Rescored], mean: Mean = "log") -> None:
        super().__init__(members, mean)
        # In a tuple: its weights are those of the members, which are saved with these.
        self._rankers = (LSTMMembers([member.rescorer for member in members]),)

    @property
    def rescored(self) -> list[Rescored]:
        """The members."""
        return [cast(Rescored, member) for member in self.members]

    @property
    def ranker(self) -> LSTMMembers:
        """The LSTMs of all members."""
        return self._rankers[0]


def _different(outputs: list[Output]) -> list[Output]:
    """Outputs without those that are the same as one before."""
    different: dict[tuple[int, ...], Output] = {}
    for output in outputs:
        different.setdefault(tuple(output.choices), output)
    return list(different.values())
