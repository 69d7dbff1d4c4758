"""The LSTM baseline: an encoder and a decoder with additive attention between them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ftor.config import Config, LSTMConfig
from ftor.networks.beam import Memory, State
from ftor.networks.network import Losses
from ftor.networks.seq2seq import WritesFromLeft, only_tokens, teacher_forcing, token_losses, with_end
from ftor.nn import HighwayBiLSTM, PretrainedEmbedding
from ftor.nn.additive_attention import AdditiveAttention
from ftor.nn.attentive_lstm import attentive_lstm
from ftor.nn.contextual import ContextualEmbedding, given
from ftor.nn.padding import inside, padded_rows
from ftor.text.batches import Batch, SourceBatch
from ftor.text.vocabularies import Vocabularies

Scorer = Callable[[Tensor, Sequence[Sequence[int]]], Tensor]
"""From the rows (R,) of sources and an output for each to the scores log P(y|x) (R,)."""


class LSTMSeq2Seq(WritesFromLeft):
    """A highway BiLSTM encoder and an LSTM decoder with additive attention.

    The decoder begins with the encoder's last states. Its first layer reads the token before and the
    attended source; the query is the layer's last state. Each layer above reads only the layer below.

    Args:
        config: sizes.
        source_size: number of source ids.
        classes: V, number of target classes.
        vector_size: E of pretrained vectors; None without them.
        reader_size: E of the vectors of a pretrained reader, which are added; None without one.
    """

    config: LSTMConfig

    def __init__(
        self,
        config: LSTMConfig,
        source_size: int,
        classes: int,
        vector_size: int | None = None,
        reader_size: int | None = None,
    ) -> None:
        super().__init__()
        self.config, self.classes = config, classes
        D, H = config.width, 2 * config.hidden
        self.embedding: nn.Embedding | PretrainedEmbedding
        if vector_size is not None:
            self.embedding = PretrainedEmbedding(source_size, vector_size, D, trained=True)
        else:
            self.embedding = _embedding(source_size, D)
        self.contextual = None if reader_size is None else ContextualEmbedding(reader_size, D)
        self.encoder = HighwayBiLSTM(
            H, config.encoder_layers, 1, config.recurrent_dropout, config.layer_dropout, inputs=D
        )
        # The last target is the end, and what comes before the first.
        self.target_embedding = _embedding(classes + 1, D)
        self.attention = AdditiveAttention(H)
        self.cell = nn.LSTMCell(H + D, H)
        layers = config.decoder_layers - 1
        self.upper = nn.LSTM(H, H, layers, batch_first=True) if layers else None
        self.output = nn.Linear(H, classes + 1)

    @classmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """See `Network.build`."""
        assert isinstance(config.model, LSTMConfig)
        reader_size = None if words.reader is None else words.reader.size
        sizes = len(words.source), len(words.target), vector_size, reader_size
        return cls(config.model, *sizes), words

    def read(self, batch: Batch | SourceBatch) -> tuple[Memory, Tensor]:
        """What the decoder knows of the sources of a batch, and its first state (B, H)."""
        source, lengths = with_end(batch.source, batch.source_lengths)
        x = self.embedding(source)
        if self.contextual is not None:
            words = inside(batch.source_lengths, batch.source.shape[1])[..., None]
            x = x + F.pad(self.contextual(given(batch.vectors)) * words, (0, 0, 0, 1))  # not of the end
        (encoded,) = self.encoder(x, lengths)
        half = encoded.shape[-1] // 2
        last = encoded[torch.arange(len(encoded), device=encoded.device), lengths - 1, :half]
        begin = torch.cat([last, encoded[:, 0, half:]], -1)
        keys = self.attention.key(encoded).to(encoded.dtype)
        return (encoded, keys, inside(lengths, source.shape[1])), begin

    def forward(self, batch: Batch) -> Losses:
        """−log P(y|x), the mean over the tokens of each output."""
        return only_tokens(self.losses(batch).sum(1) / (batch.target_lengths + 1))

    def losses(self, batch: Batch) -> Tensor:
        """See `WritesFromLeft.losses`."""
        return self._losses(*self.read(batch), batch.target, batch.target_lengths)

    def fit_reader(self, vectors: Tensor, top: Mapping[str, Tensor] | None = None) -> None:
        """See `Network.fit_reader`."""
        assert self.contextual is not None
        self.contextual.fit(vectors)

    def scorer(self, batch: SourceBatch) -> Scorer:
        """Read sources once, to score several outputs of each."""
        read = self.read(batch)
        return lambda rows, outputs: -self.output_losses(read, rows, outputs).sum(1)

    def output_losses(
        self, read: tuple[Memory, Tensor], rows: Tensor, outputs: Sequence[Sequence[int]]
    ) -> Tensor:
        """−log P of each token of outputs (R,) and of the end, (R, L + 1), 0 past the end.

        `rows` (R,) are those of their sources in what was read.
        """
        (encoded, keys, real), begin = read
        memory = encoded[rows], keys[rows], real[rows]
        target, lengths = padded_rows(outputs, rows.device)
        return self._losses(memory, begin[rows], target, lengths)

    def _losses(self, memory: Memory, begin: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
        before, golds = teacher_forcing(target, lengths, self.classes)
        with torch.autocast(begin.device.type, enabled=False):  # not all CPUs have LSTMs in half precision
            return token_losses(self.output(self._write(memory, begin, before)), golds, lengths)

    def _write(self, memory: Memory, begin: Tensor, before: Tensor) -> Tensor:
        """The top layer's states (B, L, H), given the token before each, `before` (B, L)."""
        top = attentive_lstm(self.cell, self.attention, memory, begin, self.target_embedding(before))
        if self.upper is not None:
            first = begin.expand(self.upper.num_layers, -1, -1).contiguous()
            top, _ = self.upper(top, (first, torch.zeros_like(first)))
        return top

    def start(self, begin: Tensor) -> State:
        """The states (R, 1, …) of outputs without a token: h, c, then those of the layers above."""
        h = begin[:, None]
        above = h[:, :, None].expand(-1, -1, self.config.decoder_layers - 1, -1)
        return h, torch.zeros_like(h), above, torch.zeros_like(above)

    def step(self, memory: Memory, state: State, previous: Tensor) -> tuple[Tensor, State]:
        """See `ftor.networks.beam.Step`."""
        encoded, keys, real = memory
        h, c, above_h, above_c = state
        attended = self.attention(h, keys, encoded, real)
        x = torch.cat([attended, self.target_embedding(previous)], -1)
        R, W, H = h.shape
        h, c = (values.view(R, W, H) for values in self.cell(*_flat(x, (h, c))))
        top = h
        if self.upper is not None:
            first = tuple(values.flatten(0, 1).transpose(0, 1).contiguous() for values in (above_h, above_c))
            top, after = self.upper(h.view(R * W, 1, H), first)
            top = top.view(R, W, H)
            above_h, above_c = (values.transpose(0, 1).reshape(above_h.shape) for values in after)
        return self.output(top).log_softmax(-1), (h, c, above_h, above_c)

    def begin(self, batch: SourceBatch) -> tuple[Memory, State]:
        """See `WritesFromLeft.begin`."""
        memory, begin = self.read(batch)
        return memory, self.start(begin)


def _embedding(size: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(size, width)
    nn.init.xavier_uniform_(embedding.weight)  # as released
    return embedding


def _flat(x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Sources and outputs in one dimension: (R, W, …) → (R·W, …)."""
    return x.flatten(0, 1), (state[0].flatten(0, 1), state[1].flatten(0, 1))
