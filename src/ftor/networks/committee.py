"""A committee: several transducers whose probabilities are averaged before the exact search."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self, cast

import torch
from torch import Tensor, nn

from ftor.config import Config, TransducerConfig
from ftor.distributions.fertility import TopLengths, most_likely_lengths
from ftor.networks.alignment import Alignment, Reading
from ftor.networks.network import FLOOR, Losses
from ftor.networks.searching import SearchingNetwork
from ftor.networks.transducer import Transducer
from ftor.networks.writing import JointWriter
from ftor.nn import PretrainedEmbedding
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


class Committee(SearchingNetwork[Readings]):
    """Transducers that read and write the same words.

    P(l|x) and, for each length, P(y_o|x,l) of each token are the means over the members. The search is that
    of a single transducer, so it is exact if decoders are independent.

    Args:
        members: the transducers, with the same ids, `max_fertility` and `decoder`.
        mean: "log" takes the mean of log (P + FLOOR) of tokens and of log P(l|x), "arithmetic" that of the
            probabilities.
    """

    member: ClassVar[type[Transducer]] = Transducer
    """What `build` makes several of."""

    def __init__(self, members: Sequence[Transducer], mean: Mean = "log") -> None:
        super().__init__()
        self.members, self.mean = nn.ModuleList(members), mean
        self.config, self.classes = members[0].config, members[0].classes
        if self.vectors is not None:
            for member in members[1:]:
                assert member.vectors is not None
                self.vectors.lead(member.vectors)

    @classmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """See `Network.build`. The members differ by their first weights."""
        assert isinstance(config.model, TransducerConfig)
        built = [cls.member.build(config, words, vector_size)[0] for _ in range(config.model.members)]
        return cls(built), words

    @property
    def transducers(self) -> list[Transducer]:
        """The members."""
        return [cast(Transducer, member) for member in self.members]

    def forward(self, batch: Batch) -> Losses:
        """The mean losses of the members."""
        terms = zip(*(member(batch) for member in self.transducers), strict=True)
        return Losses(*(torch.stack(term).mean(0) for term in terms))

    def read(self, batch: Batch | SourceBatch) -> Readings:
        """What the members make of sources."""
        readings = tuple(member.read(batch) for member in self.transducers)
        scores = torch.stack([reading.fertility.length_log_probs for reading in readings])
        mean = scores.mean(0) if self.mean == "log" else scores.logsumexp(0) - math.log(len(readings))
        return Readings(readings, MeanLengths(mean))

    def token_probabilities(self, batch: SourceBatch, reading: Readings, lengths: Tensor) -> Tensor:
        """The mean of P(y_o | x, l) of each choice, (B, L, V or V + n·C)."""
        both = zip(self.transducers, reading.members, strict=True)
        return self._averaged(
            torch.stack([one.token_probabilities(batch, own, lengths) for one, own in both])
        )

    def writer(self, batch: SourceBatch, reading: Readings, lengths: Tensor) -> JointWriter:
        """The members, which agree on each token by the mean of its probabilities."""
        both = zip(self.transducers, reading.members, strict=True)
        return JointWriter([one.writer(batch, own, lengths) for one, own in both], self._averaged)

    def _averaged(self, p: Tensor) -> Tensor:
        """The mean over the first dimension."""
        if self.mean == "arithmetic":
            return p.mean(0)
        return ((p + FLOOR).log().mean(0).exp() - FLOOR).clamp(min=0)

    def explain(self, batch: SourceBatch, lengths: Tensor) -> tuple[Reading, Alignment]:
        """How the first member aligns sources with outputs of `lengths` (B,)."""
        return self.transducers[0].explain(batch, lengths)

    @property
    def vectors(self) -> PretrainedEmbedding | None:
        """Those of the first member, which leads the others."""
        return self.transducers[0].vectors

    def fit_reader(self, vectors: Tensor, top: Mapping[str, Tensor] | None = None) -> None:
        """See `Network.fit_reader`."""
        for member in self.transducers:
            member.fit_reader(vectors, top)

    def fit_names(self, vectors: Tensor, seen: Tensor) -> None:
        """See `Network.fit_names`."""
        for member in self.transducers:
            member.fit_names(vectors, seen)

    @property
    def reader_parameters(self) -> int:
        """Those of the first member. All have the same."""
        return self.transducers[0].reader_parameters
