"""What the encoders of a transducer read: type vectors, vectors in context, or both."""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ftor.config import TransducerConfig
from ftor.ops.dispatch import reads_values


class Projects(Protocol):
    """What is asked of an encoder."""

    def project(self, x: Tensor) -> Tensor:
        """What the encoder reads of x (…, D), linear in x."""
        ...


class Input(NamedTuple):
    """The embeddings of a batch.

    Attributes:
        x: (B, n, D).
        tokens: (W, D), the distinct ones; None if they are not known.
        places: (B, n), which of them is where; None if they are not known.
    """

    x: Tensor
    tokens: Tensor | None = None
    places: Tensor | None = None

    @classmethod
    def of_types(
        cls, embedding: nn.Module, source: Tensor, emphasis: Tensor | None, emphasised: Tensor | None
    ) -> "Input":
        """Embeddings that do not depend on the context.

        Args:
            embedding: from ids to vectors (…, D).
            source: (B, n), the ids.
            emphasis: (D,), h, which is added to emphasised tokens.
            emphasised: (B, n), e, which of them are.
        """
        if not reads_values(source):  # other devices would have to wait for the number of distinct tokens
            x = embedding(source)
            return cls(x if emphasis is None or emphasised is None else x + emphasised[..., None] * emphasis)
        if emphasis is None or emphasised is None:
            ids, places = torch.unique(source, return_inverse=True)
            tokens = embedding(ids)
        else:  # a word that is emphasised in one place and not in another is two tokens
            kinds, places = torch.unique(2 * source + emphasised, return_inverse=True)
            tokens = embedding(kinds // 2) + (kinds % 2)[:, None] * emphasis
        return cls(F.embedding(places, tokens), tokens, places)

    def projected(self, encoder: Projects) -> Tensor:
        """What an encoder reads: (B, n, P). Its linear map is applied once to each distinct token."""
        if self.tokens is None or self.places is None:
            return encoder.project(self.x)
        return F.embedding(self.places, encoder.project(self.tokens))


class Inputs(NamedTuple):
    """What each part of a transducer reads."""

    fertility: Input
    reordering: Input
    decoder: Input

    @classmethod
    def all(cls, one: Input) -> "Inputs":
        """The same for all parts."""
        return cls(one, one, one)

    @classmethod
    def with_context(cls, types: Input, context: Tensor, config: TransducerConfig) -> "Inputs":
        """What each part is configured to read, from type vectors and vectors in context (B, n, D)."""
        choices = {"type": types, "context": Input(context), "both": Input(types.x + context)}
        return cls(
            choices[config.fertility_reads], choices[config.reordering_reads], choices[config.decoder_reads]
        )


def context_gate(width: int, scale: float) -> nn.Module:
    """Weights in 0..1 of vectors (…, D) in context, which start at `scale`."""
    linear = nn.Linear(width, 1)
    nn.init.zeros_(linear.weight)
    # On the CPU, where it has a value: a network that is to be loaded is built on the device "meta".
    nn.init.constant_(linear.bias, torch.tensor(scale, device="cpu").logit(eps=1e-3).item())
    return nn.Sequential(linear, nn.Sigmoid())
