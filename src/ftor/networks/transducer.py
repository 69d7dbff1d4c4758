"""The transducer: fertility, reordering and translation of each copy, in either order (section 6)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ftor.config import Config, ConfigError, TransducerConfig
from ftor.networks.alignment import Alignment, Reading, fertility_loss
from ftor.networks.inputs import Input, Inputs, context_gate
from ftor.networks.network import FLOOR, Losses
from ftor.networks.searching import SearchingNetwork
from ftor.networks.writing import DecoderWriter
from ftor.nn import (
    AutoregressiveDecoder,
    BiLSTM,
    FertilityLayer,
    HighwayBiLSTM,
    IndependentDecoder,
    PretrainedEmbedding,
    ReorderingLayer,
)
from ftor.nn.contextual import ContextualEmbedding, given
from ftor.nn.name_scores import NameScores
from ftor.nn.padding import inside
from ftor.nn.precision import without_autocast
from ftor.nn.top_layers import TopLayers
from ftor.text.batches import Batch, SourceBatch
from ftor.text.readers import TrainedReader
from ftor.text.vocabularies import Vocabularies


class Transducer(SearchingNetwork[Reading]):
    """F→R, R→F or fertility alone, with an independent or autoregressive decoder, copying or not.

    Args:
        config: sizes and variants.
        source_size: number of source ids.
        classes: V, number of target classes; the first ones stand for copies if the model copies.
        vector_size: E of pretrained vectors; None without them.
        emphasis: whether sources may have tokens to emphasise.
        reader_size: E of the vectors of a pretrained reader; None without one.
    """

    def __init__(
        self,
        config: TransducerConfig,
        source_size: int,
        classes: int,
        vector_size: int | None = None,
        emphasis: bool = False,
        reader_size: int | None = None,
    ) -> None:
        super().__init__()
        self.config, self.classes = config, classes
        D, d = config.width, config.max_fertility
        self.embedding: nn.Embedding | PretrainedEmbedding
        if vector_size is not None:
            self.embedding = PretrainedEmbedding(source_size, vector_size, D, config.train_vectors)
        else:
            self.embedding = nn.Embedding(source_size, D)
            # Standard normal (torch's default) is large beside ρ times the context, so that the decoder
            # learns tokens; Xavier-uniform (the released models') is small, so that it learns neighbours too.
            if config.embedding == "xavier":
                nn.init.xavier_uniform_(self.embedding.weight)
        self.source_encoder = self._encoder(encoders=2)  # the two encoders that read the source itself
        self.fertility = FertilityLayer(D, d, config.fertility_hidden, config.dropout, config.temperature)
        if config.order != "fertility":
            self.inner_encoder = self._encoder(encoders=1)  # the one that reads the first step's result
            self.reordering = ReorderingLayer(D, config.scorer_hidden, config.dropout)
        if config.order == "fertility-reordering":
            self.copy_embedding = nn.Parameter(torch.randn(d, D))
        sizes = (D, classes, d, config.decoder_hidden, config.dropout)
        self.decoder = (
            IndependentDecoder(*sizes)
            if config.decoder == "independent"
            else AutoregressiveDecoder(*sizes, config.target_width)
        )
        self.emphasis = nn.Parameter(torch.randn(D)) if emphasis else None  # h
        self.gate = context_gate(D, config.context_scale) if config.context_gate else None
        self.contextual = None if reader_size is None else ContextualEmbedding(reader_size, D)
        self.reader: TopLayers | None = None  # those layers of the reader that are trained

    @classmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """See `Network.build`."""
        assert isinstance(config.model, TransducerConfig)
        sizes = len(words.source), len(words.target), vector_size
        reader_size = None if words.reader is None else words.reader.size
        network = cls(config.model, *sizes, config.data.emphasis, reader_size)
        if isinstance(words.reader, TrainedReader):
            network.reader = words.reader.top_layers()
        if config.model.compose_names:
            size = vector_size if reader_size is None else reader_size
            if size is None:
                raise ConfigError("model.compose_names: needs data.vectors or model.reader for the names")
            sizes_of_names = config.model.decoder_hidden, config.model.max_fertility, len(words.target), size
            network.decoder.names = NameScores(*sizes_of_names)
        return network, words

    def _encoder(self, encoders: int) -> HighwayBiLSTM | BiLSTM:
        config = self.config
        if config.encoder == "plain":
            return BiLSTM(config.width, config.encoder_layers, encoders, config.layer_dropout)
        return HighwayBiLSTM(
            config.width, config.encoder_layers, encoders, config.recurrent_dropout, config.layer_dropout
        )

    def read(self, batch: Batch | SourceBatch) -> Reading:
        """Encode the sources of a batch: x = embedding + e·h, or the vectors of a pretrained reader."""
        config, lengths = self.config, batch.source_lengths
        fertility, reordering, decoder = self._inputs(batch)
        first_input = reordering if config.order == "reordering-fertility" else fertility
        first, second = self.source_encoder.encode(first_input.projected(self.source_encoder), lengths)
        if decoder is not first_input:
            second = self.source_encoder.encode(decoder.projected(self.source_encoder), lengths)[1]
        context = decoder.x + (config.context_scale if self.gate is None else self.gate(second)) * second
        if config.fertility_skip and config.order != "reordering-fertility":
            first = first + fertility.x
        if config.order == "fertility":
            return Reading(fertility.x, None, context, self.fertility(first, lengths), None)
        if config.order == "fertility-reordering":
            x = reordering.x
            if config.reordering_context:
                x = x + config.reordering_context * second
                inner_x = self.inner_encoder.project(x)
            else:
                inner_x = reordering.projected(self.inner_encoder)
            return Reading(x, inner_x, context, self.fertility(first, lengths), None)
        inner_x = fertility.projected(self.inner_encoder)
        permutation = self.reordering(first, lengths)
        permute = permutation.marginals.mT
        (inner,) = self.inner_encoder.encode(permute @ inner_x, lengths)
        return Reading(
            fertility.x, None, context, self.fertility(inner + permute @ fertility.x, lengths), permutation
        )

    def _inputs(self, batch: Batch | SourceBatch) -> Inputs:
        """What the parts read of sources."""
        emphasised = batch.emphasised
        types = Input.of_types(self.embedding, batch.source, self.emphasis, emphasised)
        if self.contextual is None:
            return Inputs.all(types)
        context = self.contextual(given(self.vectors_in_context(batch)))
        if self.emphasis is not None and emphasised is not None:
            context = context + emphasised[..., None] * self.emphasis
        return Inputs.with_context(types, context, self.config)

    def vectors_in_context(self, batch: Batch | SourceBatch) -> Tensor | None:
        """The vectors (B, n, E) of a pretrained reader; None without one."""
        if self.reader is None or batch.piece_positions is None:
            return batch.vectors
        vectors: Tensor = self.reader(batch.vectors, batch.piece_positions, batch.source.shape[1])
        return vectors

    def align(self, reading: Reading, lengths: Tensor, max_length: int | None = None) -> Alignment:
        """Align the source with outputs of `lengths` (B,).

        `max_length` is L, by default the greatest of the lengths. A GPU would have to wait for that.
        """
        copies = reading.fertility.given(lengths, max_length).marginals
        by_copy = copies.transpose(2, 3)
        B, n, d, L = by_copy.shape
        if self.config.order == "fertility":
            return Alignment(copies, None, by_copy)
        if reading.permutation is not None:  # R→F
            with without_autocast(copies):
                moved = reading.permutation.marginals @ by_copy.reshape(B, n, d * L)
            return Alignment(copies, reading.permutation, moved.view(B, n, d, L))
        assert reading.inner_x is not None
        by_token, which_copy = by_copy.sum(2).mT, copies.sum(1)
        h = by_token @ reading.x + which_copy @ self.copy_embedding
        inner_h = by_token @ reading.inner_x + which_copy @ self.inner_encoder.project(self.copy_embedding)
        (inner,) = self.inner_encoder.encode(inner_h, lengths)
        permutation = self.reordering(inner + h, lengths)
        with without_autocast(copies):  # probabilities keep their precision
            moved = by_copy.reshape(B, n * d, L) @ permutation.marginals
        return Alignment(copies, permutation, moved.view(B, n, d, L))

    def forward(self, batch: Batch) -> Losses:
        """The loss terms of gold outputs; every target length must be one that the source can reach."""
        reading = self.read(batch)
        alignment = self.align(reading, batch.target_lengths, batch.target.shape[1]).marginals
        gold = self.decoder.gold(reading.context, batch.source_lengths, batch.target.clamp(min=0))
        tokens = token_losses(alignment, gold.to(alignment.dtype), batch)
        length = -reading.fertility.log_prob_length(batch.target_lengths)
        if batch.aligned is None:
            return Losses(tokens, length, torch.zeros_like(tokens))
        wanted = -((alignment.sum(2) + 1e-30).log() * batch.aligned).sum((1, 2))
        if batch.aligns_fertilities:
            wanted = wanted + fertility_loss(reading, batch.aligned, batch.target_lengths)
        return Losses(tokens, length, wanted)

    def fit_reader(self, vectors: Tensor, top: Mapping[str, Tensor] | None = None) -> None:
        """See `Network.fit_reader`."""
        assert self.contextual is not None
        self.contextual.fit(vectors)
        if top is not None:
            assert self.reader is not None
            self.reader.load_state_dict(top)

    def fit_names(self, vectors: Tensor, seen: Tensor) -> None:
        """See `Network.fit_names`."""
        assert self.decoder.names is not None
        copies = self.classes - len(vectors)  # these classes have no names
        self.decoder.names.fit(F.pad(vectors, (0, 0, copies, 0)), F.pad(seen, (copies, 0), value=True))

    @property
    def reader_parameters(self) -> int:
        """How many parameters of a pretrained reader are trained."""
        parameters = [] if self.reader is None else self.reader.parameters()
        return sum(parameter.numel() for parameter in parameters if parameter.requires_grad)

    def explain(self, batch: SourceBatch, lengths: Tensor) -> tuple[Reading, Alignment]:
        """How sources are aligned with outputs of `lengths` (B,)."""
        reading = self.read(batch)
        return reading, self.align(reading, lengths)

    def token_probabilities(self, batch: SourceBatch, reading: Reading, lengths: Tensor) -> Tensor:
        """See `SearchingNetwork.token_probabilities`."""
        assert isinstance(self.decoder, IndependentDecoder)
        alignment = self.align(reading, lengths).marginals
        return self._mixture(batch, self.decoder(reading.context).exp(), alignment)

    def writer(self, batch: SourceBatch, reading: Reading, lengths: Tensor) -> DecoderWriter:
        """See `SearchingNetwork.writer`."""
        assert isinstance(self.decoder, AutoregressiveDecoder)
        alignment = self.align(reading, lengths).marginals
        return DecoderWriter(self.decoder, reading.context, alignment, batch, self._mixture)

    def _mixture(self, batch: SourceBatch, translations: Tensor, alignment: Tensor) -> Tensor:
        """P(y_o | x, l) of each class: (B, L, V); with copying then of each copy: (B, L, V + n·C).

        The probability of a token is the sum over its class and all its copies. It is stored at the class if
        the token has one, else at the first copy.
        """
        by_class = alignment.flatten(1, 2).mT @ translations.flatten(1, 2)
        if batch.copies is None:
            return by_class
        choices = batch.copies.choices
        kinds = choices.shape[1] // batch.source.shape[1]
        # (B, L, n·C): source token i, then with the next one, …
        each = [(alignment * translations[..., kind, None]).sum(2).mT for kind in range(kinds)]
        copy = torch.stack(each, -1).flatten(2)
        by_class[..., :kinds] = 0
        mixture = F.pad(by_class, (0, choices.shape[1]))
        places = choices.clamp(min=0)[:, None, :].expand_as(copy)
        return mixture.scatter_add(-1, places, copy * (choices >= 0)[:, None, :])


def token_losses(alignment: Tensor, gold: Tensor, batch: Batch) -> Tensor:
    """−log P(y|x,l) (B,), from the alignment and the probabilities of gold classes, (B, n, d, L) each."""
    weights = alignment
    if batch.copyable is not None:
        right = batch.copyable | (batch.target >= batch.copy_classes)[:, None, :]
        weights = alignment * right[:, :, None, :]
    p = (weights * gold).sum((1, 2)).masked_fill(batch.target < 0, 0)
    return -(inside(batch.target_lengths, p.shape[1]) * (p + FLOOR).log()).sum(1)
