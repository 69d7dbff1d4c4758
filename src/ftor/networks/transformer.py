"""The Transformer baseline, with relative positions: they generalise better than absolute ones."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from ftor.config import Config, TransformerConfig
from ftor.networks.beam import Memory, State
from ftor.networks.network import Losses
from ftor.networks.seq2seq import WritesFromLeft, only_tokens, teacher_forcing, token_losses, with_end
from ftor.nn.padding import inside
from ftor.nn.relative_attention import CrossAttention, RelativeAttention, sinusoids
from ftor.text.batches import Batch, SourceBatch
from ftor.text.vocabularies import Vocabularies

POSITION_DROPOUT = 0.1
"""On embeddings and absolute positions. It does not depend on `model.dropout`, as released."""


class _Layer(nn.Module):
    """Self-attention, attention to the source (decoder only) and a feed-forward layer, each post-normed."""

    def __init__(self, config: TransformerConfig, reads_source: bool) -> None:
        super().__init__()
        D = config.width
        self.itself = RelativeAttention(D, config.heads, config.dropout)
        self.source = CrossAttention(D, config.heads, config.dropout) if reads_source else None
        hidden, output = nn.Linear(D, config.hidden), nn.Linear(config.hidden, D)
        nn.init.xavier_uniform_(hidden.weight, nn.init.calculate_gain("relu"))
        nn.init.xavier_uniform_(output.weight)
        self.feed_forward = nn.Sequential(hidden, nn.ReLU(), nn.Dropout(config.dropout), output)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(2 + reads_source))
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Tensor,
        allowed: Tensor,
        before: tuple[Tensor, Tensor],
        memory: tuple[Tensor, Tensor, Tensor] | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Apply the layer to `x` (B, L, D); see `RelativeAttention`.

        `memory` is keys and values of the sources, and which positions are real. Each source may have
        several outputs in consecutive rows.
        """
        first, *others = self.norms
        attended, key, value = self.itself(x, allowed, before)
        x = first(x + self.dropout(attended))
        if self.source is not None:
            assert memory is not None
            by_source = x.reshape(len(memory[0]), -1, x.shape[-1])
            x = others[0](x + self.dropout(self.source(by_source, *memory)).view(x.shape))
        return others[-1](x + self.dropout(self.feed_forward(x))), key, value


class RelativeTransformer(WritesFromLeft):
    """A post-norm Transformer with relative self-attention and absolute positions.

    Args:
        config: sizes.
        source_size: number of source ids.
        classes: V, number of target classes.
    """

    config: TransformerConfig

    def __init__(self, config: TransformerConfig, source_size: int, classes: int) -> None:
        super().__init__()
        self.config, self.classes = config, classes
        self.embedding = nn.Embedding(source_size, config.width)
        self.target_embedding = nn.Embedding(classes + 1, config.width)  # the last one is the end
        for embedding in (self.embedding, self.target_embedding):
            nn.init.kaiming_normal_(embedding.weight)
        self.encoder = nn.ModuleList(_Layer(config, reads_source=False) for _ in range(config.layers))
        self.decoder = nn.ModuleList(_Layer(config, reads_source=True) for _ in range(config.layers))
        self.output = nn.Linear(config.width, classes + 1)
        nn.init.xavier_uniform_(self.output.weight)
        self.position_dropout = nn.Dropout(POSITION_DROPOUT)

    @classmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """See `Network.build`."""
        assert isinstance(config.model, TransformerConfig)
        return cls(config.model, len(words.source), len(words.target)), words

    def read(self, batch: Batch | SourceBatch) -> Memory:
        """What the decoder knows of the sources of a batch.

        The first tensor tells which positions are real; then come keys and values of each layer.
        """
        source, lengths = with_end(batch.source, batch.source_lengths)
        real = inside(lengths, source.shape[1])
        x = self._embed(self.embedding(source), 0)
        for layer in self.encoder:
            x, _, _ = layer(x, real[:, None], self._no_tokens(x), None)
        read = (layer.source.read(x) for layer in self.decoder)  # type: ignore[union-attr, operator]
        return real, *(part for both in read for part in both)

    def write(self, memory: Memory, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Read the next tokens of outputs and predict what comes after each.

        Args:
            memory: (B, …), the result of `read`; or (B / W, …) if there are W outputs for each source.
            state: keys and values (B, heads, m, D / heads) of the m tokens before, for each layer.
            tokens: (B, L); before the first token of an output comes the end.

        Returns:
            Logits (B, L, V + 1), and the state with these tokens included.
        """
        real, *read = memory
        m, L = state[0].shape[2], tokens.shape[1]
        x = self._embed(self.target_embedding(tokens), m)
        positions = torch.arange(m + L, device=tokens.device)
        allowed = (positions <= positions[m:, None])[None]
        after: list[Tensor] = []
        for layer, before, source in zip(self.decoder, _pairs(state), _pairs(read), strict=True):
            x, key, value = layer(x, allowed, before, (*source, real))
            after += [key, value]
        return self.output(x).to(self.output.weight.dtype), tuple(after)

    def forward(self, batch: Batch) -> Losses:
        """−log P(y|x), the sum over the tokens of each output."""
        return only_tokens(self.losses(batch).sum(1))

    def losses(self, batch: Batch) -> Tensor:
        """See `WritesFromLeft.losses`."""
        memory = self.read(batch)
        before, golds = teacher_forcing(batch.target, batch.target_lengths, self.classes)
        logits, _ = self.write(memory, self.start(memory), before)
        return token_losses(logits, golds, batch.target_lengths)

    def start(self, memory: Memory) -> State:
        """The keys and values (B, heads, 0, D / heads) of no tokens, for each layer."""
        return self._no_tokens(memory[1]) * self.config.layers

    def step(self, memory: Memory, state: State, previous: Tensor) -> tuple[Tensor, State]:
        """See `ftor.networks.beam.Step`."""
        R, W = previous.shape
        flat = tuple(part.flatten(0, 1) for part in state)
        logits, after = self.write(memory, flat, previous.view(R * W, 1))
        return logits.view(R, W, -1).log_softmax(-1), tuple(
            part.view(R, W, *part.shape[1:]) for part in after
        )

    def begin(self, batch: SourceBatch) -> tuple[Memory, State]:
        """See `WritesFromLeft.begin`."""
        memory = self.read(batch)
        return memory, tuple(part[:, None] for part in self.start(memory))

    def _embed(self, x: Tensor, first: int) -> Tensor:
        """Add the absolute positions, from `first` on, to embeddings (B, L, D)."""
        D = self.config.width
        positions = torch.arange(first, first + x.shape[1], device=x.device)
        embedded: Tensor = self.position_dropout(x + sinusoids(positions, D).to(x.dtype) / math.sqrt(D))
        return embedded

    def _no_tokens(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and values (B, heads, 0, D / heads) of a layer before the first token."""
        heads = self.config.heads
        empty = like.new_zeros(len(like), heads, 0, self.config.width // heads)
        return empty, empty


def _pairs(parts: Iterable[Tensor]) -> Iterable[tuple[Tensor, Tensor]]:
    """(k, v, k, v, …) → ((k, v), (k, v), …)."""
    both = iter(parts)
    return zip(both, both, strict=True)
