"""What every network does: losses of gold outputs, and the best outputs that it finds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from torch import Tensor, nn

from ftor.config import Config
from ftor.networks.alignment import Alignment, Reading
from ftor.nn import PretrainedEmbedding
from ftor.text.batches import Batch, SourceBatch
from ftor.text.vocabularies import Vocabularies

FLOOR = 1e-10
"""Added to a token's probability, in the loss and under a grammar: an impossible one costs 23 nats, not ∞."""

Search = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From the log-probabilities (B, L, C) of `SourceBatch.columns` and lengths (B,), the log-probability (B,) of
the best output, −inf if there is none, and its columns (B, L)."""
NBest = Callable[[Tensor, Tensor, int, Tensor], tuple[Tensor, Tensor]]
"""The same for the n best outputs: log-probabilities (B, n) and columns (B, n, L). It is also given numbers
(B, C) of columns; those of the same number are the same word."""
Accepts = Callable[[int, list[int]], bool]
"""Whether an output may be chosen, from the place of its source in the batch and its choices."""


class Losses(NamedTuple):
    """Negative log-likelihoods of each example, (B,): of its tokens, its length, its wanted alignments."""

    tokens: Tensor
    length: Tensor
    alignment: Tensor


class Output(NamedTuple):
    """An output that was found for a source.

    Attributes:
        choices: v < V is target class v, V + i is the i-th copy of source tokens.
        score: log P(y|x); of a transducer log P(l|x) + log P(y|x,l).
        length_score: log P(l|x); None if the network has no distribution over lengths.
        rank_score: what a network that ranks its candidates by more than `score` ranks them by.
    """

    choices: list[int]
    score: float
    length_score: float | None = None
    rank_score: float | None = None


class TokenScores(NamedTuple):
    """The log-probabilities of the parts of an output. They sum up to `Output.score`.

    Attributes:
        tokens: of each token, given those before it if the network writes from left to right.
        length: log P(l|x); None if the network has no distribution over lengths.
        end: of the end after the last token; None if the network has a distribution over lengths.
    """

    tokens: list[float]
    length: float | None = None
    end: float | None = None

    @property
    def total(self) -> float:
        """The log-probability of the whole output."""
        return sum(self.tokens) + (self.length or 0.0) + (self.end or 0.0)


@dataclass(frozen=True)
class Constraint:
    """Which outputs a grammar allows. Each network uses the parts that fit its search.

    Attributes:
        lengths: from the greatest length `most`, which lengths (most + 1,) outputs may have. None: any.
        search: finds the best allowed output of a length. None: all are allowed.
        n_best: finds the n best allowed outputs of a length. None: all are allowed.
        accepts: tells whether an output is allowed. None: all are.
    """

    lengths: Callable[[int], Tensor] | None = None
    search: Search | None = None
    accepts: Accepts | None = None
    n_best: NBest | None = None


UNCONSTRAINED = Constraint()


class Network(nn.Module, ABC):
    """From source ids to a loss, or to outputs.

    Attributes:
        classes: V, number of target classes.
    """

    classes: int

    @classmethod
    @abstractmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """Build the network with its first weights, and the vocabularies that number its tokens.

        Args:
            config: the experiment.
            words: those of the training pairs.
            vector_size: E of pretrained word vectors; None without them.
            folder: a model folder with what `save_description` wrote; None for a new network.
        """

    @abstractmethod
    def forward(self, batch: Batch) -> Losses:
        """The loss terms of gold outputs."""

    @abstractmethod
    def decode(self, batch: SourceBatch, k: int = 1, constraint: Constraint = UNCONSTRAINED) -> list[Output]:
        """The best output that is found for each source.

        Args:
            batch: the sources; with `constraint.search`, their `columns` too.
            k: how many lengths are tried, if the network predicts lengths.
            constraint: which outputs are allowed. Where none is found, it is ignored.
        """

    @abstractmethod
    def n_best(self, batch: SourceBatch, k: int, n: int, constraint: Constraint) -> list[list[Output]]:
        """Up to n different outputs that are found for each source.

        The first is that of `decode`. The others are best first, and one of them may be better than the first
        if the search for several outputs is wider.

        Args:
            batch, k, constraint: as for `decode`.
            n: how many outputs.
        """

    @abstractmethod
    def score(
        self, batch: SourceBatch, outputs: Sequence[Sequence[int]], constrained: bool = False
    ) -> list[TokenScores]:
        """The log-probability of an output of each source, as `decode` would give it.

        Args:
            batch: the sources.
            outputs: the choices of one output for each source.
            constrained: whether `decode` would search for them with `constraint.search`.
        """

    def longest_output(self, positions: int) -> int | None:
        """The most tokens of an output of a source with so many positions; None: any number."""
        return None

    def fit_to_dev(self, score: Callable[[], float]) -> bool:
        """Fit, after training, what only dev pairs tell. `score` is that of the network as it is now.

        Returns whether there is anything to fit.
        """
        return False

    def fit_reader(self, vectors: Tensor, top: Mapping[str, Tensor] | None = None) -> None:
        """Fit, before training, to a pretrained reader. Networks without one do not.

        Args:
            vectors: (N, E), what it makes of training sentences.
            top: the weights of its layers that are trained, if any are.
        """

    def fit_names(self, vectors: Tensor, seen: Tensor) -> None:
        """Take, before training, the vectors of the names of target tokens. Most networks do not.

        Args:
            vectors: (T, E) of the tokens of the target vocabulary, 0 without a name.
            seen: (T,) whether training targets have them.
        """

    @property
    def reader_parameters(self) -> int:
        """How many parameters of a pretrained reader are trained."""
        return 0

    def explain(self, batch: SourceBatch, lengths: Tensor) -> tuple[Reading, Alignment] | None:
        """How sources are aligned with outputs of `lengths` (B,); None if the network has no alignments."""
        return None

    @property
    def vectors(self) -> PretrainedEmbedding | None:
        """The embedding of pretrained word vectors, if the network has one."""
        embedding = getattr(self, "embedding", None)
        return embedding if isinstance(embedding, PretrainedEmbedding) else None

    def add_vectors(self, vectors: Tensor) -> None:
        """Give the next source ids to words with pretrained vectors (W, E). They are not saved."""
        assert self.vectors is not None
        self.vectors.add(vectors)

    def forget_vectors(self) -> None:
        """Forget the words of `add_vectors`, if there are any."""
        if self.vectors is not None:
            self.vectors.forget()

    def save_description(self, folder: Path) -> None:
        """Write into a model folder what `build` needs beside the configuration and the words."""
