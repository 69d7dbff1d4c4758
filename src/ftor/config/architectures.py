"""The `[model]` section of each architecture."""

from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from ftor.config.network import NetworkConfig, Side
from ftor.config.seq2seq import BartConfig, LSTMConfig, PretrainedConfig, TransformerConfig

Order = Literal["fertility-reordering", "reordering-fertility", "fertility"]
Reads = Literal["type", "context", "both"]


class TransducerConfig(NetworkConfig):
    """The paper's network. Letters are the paper's."""

    structured = True

    architecture: Literal["transducer"] = "transducer"
    order: Order = Field("fertility-reordering", description="F→R, R→F, or fertility alone")
    decoder: Literal["independent", "autoregressive"] = Field("independent", description="(i) or (iii)")
    copying: bool = Field(False, description="(ii): output tokens may be copies of source tokens")
    encoder: Literal["highway", "plain"] = Field("highway", description="which bidirectional LSTM")
    width: int = Field(200, ge=2, multiple_of=2, description="D, size of embeddings and encoder outputs")
    embedding: Literal["normal", "xavier"] = Field("normal", description="initial values; xavier is smaller")
    train_vectors: bool = Field(False, description="whether pretrained vectors change in training")
    reader: str | None = Field(
        None, description="a pretrained encoder: a folder of transformers' layout, or a hub name"
    )
    reader_layers: int = Field(0, ge=0, description="how many of its last layers are trained; 0: frozen")
    fertility_reads: Reads = Field("context", description="with a reader: type vectors, its own, or both")
    reordering_reads: Reads = Field("context", description="the same for the reordering")
    decoder_reads: Reads = Field("context", description="the same for the decoder")
    encoder_layers: int = Field(2, ge=1, description="layers of each encoder")
    recurrent_dropout: float = Field(0.1, ge=0, lt=1, description="between time steps, highway encoder only")
    layer_dropout: float = Field(0.1, ge=0, lt=1, description="between the layers of an encoder")
    max_fertility: int = Field(4, ge=1, description="d, most copies of a token")
    temperature: float = Field(1.0, gt=0, description="τ of the fertility softmax")
    fertility_skip: bool = Field(False, description="fertilities also read x, as they always do in R→F")
    fertility_hidden: int = Field(128, ge=1, description="hidden units of the fertility MLP")
    scorer_hidden: int | None = Field(None, ge=1, description="hidden units of the span scorer; 4·D if unset")
    decoder_hidden: int = Field(128, ge=1, description="hidden units of the decoder's MLP")
    dropout: float = Field(0.1, ge=0, lt=1, description="on the hidden units of every MLP")
    context_scale: float = Field(0.05, ge=0, description="ρ, weight of the decoder's encoder beside x itself")
    context_gate: bool = Field(
        False, description="ρ is only where a weight starts that is learned for each word in its context"
    )
    reordering_context: float = Field(
        0.0, ge=0, description="weight of the same encoder beside x in what F→R reorders"
    )
    compose_names: bool = Field(
        False, description="target words that training lacks are scored by the words of their names"
    )
    target_width: int = Field(64, ge=1, description="size of target embeddings, autoregressive decoder only")
    rescorer: Literal["none", "lstm"] = Field("none", description="lstm: a seq2seq ranks candidates again")
    rescorer_hidden: int = Field(200, ge=1, description="units of each direction of the rescorer's encoder")
    rescoring_weight: float = Field(
        0.5, ge=0, le=1, description="of the transducer beside the rescorer; dev pairs fit it"
    )
    candidates: int = Field(20, ge=1, description="outputs of each length that the rescorer ranks")
    members: int = Field(1, ge=1, description="transducers whose probabilities are averaged")

    @property
    def pretrained_reader(self) -> str | None:
        """The pretrained encoder, if any."""
        return self.reader

    @property
    def trained_reader_layers(self) -> int:
        """How many of its layers are trained, from the last."""
        return self.reader_layers

    @model_validator(mode="after")
    def _only_a_reader_has_layers(self) -> Self:
        if self.reader_layers and self.reader is None:
            raise ValueError(f"reader_layers: needs a reader, found {self.reader_layers} without one")
        return self

    @model_validator(mode="after")
    def _the_rescorer_knows_all_tokens(self) -> Self:
        if self.rescorer != "none" and (self.copying or self.decoder != "independent"):
            raise ValueError('rescorer: needs copying = false and decoder = "independent"')
        return self

    @model_validator(mode="after")
    def _members_read_alike(self) -> Self:
        if self.members > 1 and self.rescorer != "none" and self.reader_layers:
            raise ValueError("members: with a rescorer, needs reader_layers = 0")
        return self

    @property
    def description(self) -> str:
        """What the network is, for the model card."""
        order = {
            "fertility-reordering": "fertility, then reordering (F→R)",
            "reordering-fertility": "reordering, then fertility (R→F)",
            "fertility": "fertility alone",
        }[self.order]
        copying = " with copying" if self.copying else ""
        members = f", {self.members} of them together" if self.members > 1 else ""
        return f"A sequence transducer, {order}, {self.decoder} decoder{copying}{members}"

    @property
    def network(self) -> str:
        """The name of the network in `ftor.networks.registry`."""
        if self.members > 1:
            return "committee" if self.rescorer == "none" else "rescored-committee"
        return "transducer" if self.rescorer == "none" else "rescored"

    @property
    def variant(self) -> str:
        """The name under which the paper publishes search spaces: it has none for fertility alone."""
        return "fertility" if self.order == "fertility" else self.architecture

    @property
    def batch_by(self) -> Side:
        """The side that is reordered: reordering takes most time and memory."""
        return "source" if self.order == "reordering-fertility" else "target"

    @property
    def copies(self) -> bool:
        """Whether output tokens may be copies of source tokens."""
        return self.copying

    @property
    def accepts_new_vectors(self) -> bool:
        """Only frozen vectors leave those of new words comparable."""
        return not self.train_vectors

    @property
    def accepts_grammar(self) -> bool:
        """Only independent decoders: in the others each token depends on those before it."""
        return self.decoder == "independent"

    @property
    def may_skip_parameters(self) -> bool:
        """Whether some parameters are unused: type vectors that nothing reads, or the autoregressive decoder.

        That decoder reads no output before the first: targets of one token do not use it.
        """
        return self.decoder == "autoregressive" or self.reader is not None

    def longest_target(self, positions: int) -> int:
        """Every source position is copied at most `max_fertility` times."""
        return positions * self.max_fertility

    def reordered(self, source: int, target: int) -> int:
        """How many positions are reordered, given the lengths of source and target."""
        return {"fertility": 0, "fertility-reordering": target, "reordering-fertility": source}[self.order]


ModelConfig = TransducerConfig | LSTMConfig | TransformerConfig | BartConfig | PretrainedConfig
"""The `[model]` section: one class for each architecture."""

ARCHITECTURES: dict[str, type[NetworkConfig]] = {
    get_args(section.model_fields["architecture"].annotation)[0]: section for section in get_args(ModelConfig)
}
DEFAULT_ARCHITECTURE = "transducer"
"""The architecture of a `[model]` section that names none."""
