"""Several LSTMs that are trained side by side and write each token together."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self, cast

import torch
from torch import Tensor, nn

from ftor.config import Config, LSTMConfig
from ftor.networks.beam import Memory, State
from ftor.networks.lstm import LSTMSeq2Seq, Scorer
from ftor.networks.network import Losses
from ftor.networks.seq2seq import WritesFromLeft, only_tokens
from ftor.nn import PretrainedEmbedding
from ftor.text.batches import Batch, SourceBatch
from ftor.text.vocabularies import Vocabularies


class LSTMMembers(WritesFromLeft):
    """LSTMs that differ by their first weights. The probability of a token is the mean of theirs.

    Args:
        members: two or more, which read and write the same words.
    """

    def __init__(self, members: list[LSTMSeq2Seq]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.config, self.classes = members[0].config, members[0].classes
        if self.vectors is not None:
            for member in members[1:]:
                assert member.vectors is not None
                self.vectors.lead(member.vectors)

    @classmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """See `Network.build`."""
        assert isinstance(config.model, LSTMConfig)
        built = [LSTMSeq2Seq.build(config, words, vector_size)[0] for _ in range(config.model.members)]
        return cls(built), words

    @property
    def lstms(self) -> list[LSTMSeq2Seq]:
        """The members."""
        return [cast(LSTMSeq2Seq, member) for member in self.members]

    def forward(self, batch: Batch) -> Losses:
        """The mean of the members' losses."""
        return only_tokens(torch.stack([member(batch).tokens for member in self.lstms]).mean(0))

    def losses(self, batch: Batch) -> Tensor:
        """See `WritesFromLeft.losses`."""
        return -_log_mean([-member.losses(batch) for member in self.lstms])

    def scorer(self, batch: SourceBatch) -> Scorer:
        """See `LSTMSeq2Seq.scorer`."""
        read = [(member, member.read(batch)) for member in self.lstms]

        def scores(rows: Tensor, outputs: Sequence[Sequence[int]]) -> Tensor:
            return _log_mean([-member.output_losses(own, rows, outputs) for member, own in read]).sum(1)

        return scores

    def begin(self, batch: SourceBatch) -> tuple[Memory, State]:
        """See `WritesFromLeft.begin`. The tensors are those of the members, one after another."""
        memories, states = zip(*(member.begin(batch) for member in self.lstms), strict=True)
        return sum(memories, ()), sum(states, ())

    def step(self, memory: Memory, state: State, previous: Tensor) -> tuple[Tensor, State]:
        """See `ftor.networks.beam.Step`."""
        count = len(self.lstms)
        parts = zip(_parts(memory, count), _parts(state, count), strict=True)
        each = [
            member.step(own, before, previous)
            for member, (own, before) in zip(self.lstms, parts, strict=True)
        ]
        log_probs, states = zip(*each, strict=True)
        return _log_mean(list(log_probs)), sum(states, ())

    def fit_reader(self, vectors: Tensor, top: Mapping[str, Tensor] | None = None) -> None:
        """See `Network.fit_reader`."""
        for member in self.lstms:
            member.fit_reader(vectors)

    @property
    def vectors(self) -> PretrainedEmbedding | None:
        """Those of the first member, which leads the others."""
        return self.lstms[0].vectors


def _log_mean(log_probs: list[Tensor]) -> Tensor:
    """The logarithm of the mean probability."""
    return torch.stack(log_probs).logsumexp(0) - math.log(len(log_probs))


def _parts(tensors: tuple[Tensor, ...], count: int) -> list[tuple[Tensor, ...]]:
    """The tensors of each of so many members."""
    size = len(tensors) // count
    return [tensors[place * size : (place + 1) * size] for place in range(count)]
