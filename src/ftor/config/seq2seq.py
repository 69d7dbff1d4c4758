"""The `[model]` section of the baselines, which write outputs from left to right."""

from typing import Literal, Self

from pydantic import Field, model_validator

from ftor.config.network import NetworkConfig, Side

_TRANSDUCERS_ONLY: tuple[str, ...] = (
    *("data.copy_vocabulary", "data.copy_case", "data.no_copy", "data.emphasis"),
    *("decoding.lengths", "decoding.committee", "training.aligner", "training.alignment_threshold"),
    *("training.scorer_learning_rate", "training.length_weight", "training.alignment_weight"),
    *("training.alignment_epochs", "training.alignment_iterations", "training.align_start"),
    *("training.align_fertilities", "training.reader_learning_rate"),
)


class Seq2SeqConfig(NetworkConfig):
    """What the baselines share: a beam search writes outputs from left to right."""

    unused_keys = _TRANSDUCERS_ONLY

    beam: int = Field(5, ge=1, description="how many unfinished outputs are kept; 1 is greedy")
    grammar_beam: int = Field(50, ge=1, description="the same with a grammar, which chooses from the beam")
    max_steps: int = Field(60, ge=1, description="the most tokens of an output, its end included")

    def beam_size(self, grammar: bool) -> int:
        """How many outputs are kept, with a grammar or without."""
        return self.grammar_beam if grammar else self.beam

    def prediction_batch_size(self, size: int, grammar: bool) -> int:
        """A grammar widens the beam: fewer sentences at once keep the number of outputs the same."""
        return max(1, size * self.beam // self.grammar_beam) if grammar else size


class LSTMConfig(Seq2SeqConfig):
    """An LSTM with additive attention."""

    architecture: Literal["lstm"]
    expansions: int = Field(5, ge=1, description="continuations of each output that the beam compares")
    width: int = Field(200, ge=1, description="size of source and target embeddings")
    reader: str | None = Field(None, description="a pretrained encoder, whose vectors are added; frozen")
    members: int = Field(1, ge=1, description="LSTMs that are trained side by side and write together")
    hidden: int = Field(200, ge=1, description="units of each direction of the encoder, half the decoder's")
    encoder_layers: int = Field(2, ge=1)
    decoder_layers: int = Field(1, ge=1)
    recurrent_dropout: float = Field(0.1, ge=0, lt=1, description="between time steps of the encoder")
    layer_dropout: float = Field(0.1, ge=0, lt=1, description="between the layers of the encoder")

    @property
    def pretrained_reader(self) -> str | None:
        """The pretrained encoder, if any."""
        return self.reader

    @property
    def description(self) -> str:
        """What the network is, for the model card."""
        return (
            "A baseline, an LSTM with attention"
            if self.members == 1
            else f"A baseline, {self.members} LSTMs with attention that write together"
        )

    @property
    def network(self) -> str:
        """The name of the network in `ftor.networks.registry`."""
        return "lstm" if self.members == 1 else "lstm-members"


class TransformerConfig(Seq2SeqConfig):
    """A Transformer with relative positions."""

    unused_keys = (*_TRANSDUCERS_ONLY, "data.vectors")
    wants_gpu = True

    architecture: Literal["transformer"]
    expansions: int = Field(5, ge=1, description="continuations of each output that the beam compares")
    width: int = Field(256, ge=2, multiple_of=2, description="size of embeddings and layers")
    heads: int = Field(4, ge=1, description="of each attention; they share the width")
    layers: int = Field(3, ge=1, description="of the encoder, and of the decoder")
    hidden: int = Field(512, ge=1, description="hidden units of the feed-forward layers")
    dropout: float = Field(0.1, ge=0, lt=1, description="on attention weights and the layers' outputs")
    beam: int = Field(1, ge=1, description="how many unfinished outputs are kept; 1 is greedy")
    max_steps: int = Field(78, ge=1, description="the most tokens of an output, its end included")

    @property
    def description(self) -> str:
        """What the network is, for the model card."""
        return "A baseline, a Transformer with relative positions"

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width: expected a multiple of heads, {self.heads}, found {self.width}")
        return self


class FineTunedConfig(Seq2SeqConfig):
    """A pretrained encoder-decoder."""

    unused_keys = (*_TRANSDUCERS_ONLY, "data.vectors", "data.start_token", "training.word_dropout")
    subwords = True
    wants_gpu = True

    pretrained: str = Field(description="a folder, or a name on the Hugging Face hub")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="probability mass that no gold token gets")
    beam: int = Field(5, ge=2, description="how many unfinished outputs are kept")
    grammar_beam: int = Field(50, ge=2, description="the same with a grammar, which chooses from the beam")
    max_steps: int = Field(80, ge=1, description="the most subwords of an output, its end included")

    @property
    def batch_by(self) -> Side:
        """The side whose lengths are similar within a batch."""
        return "source"


class BartConfig(FineTunedConfig):
    """A pretrained BART."""

    architecture: Literal["bart"]
    pretrained: str = Field("facebook/bart-base", description="a folder, or a name on the Hugging Face hub")

    @property
    def description(self) -> str:
        """What the network is, for the model card."""
        return "A baseline, a pretrained BART"


class PretrainedConfig(FineTunedConfig):
    """Any pretrained encoder-decoder of transformers, such as T5 or Marian."""

    architecture: Literal["pretrained"]

    @property
    def description(self) -> str:
        """What the network is, for the model card."""
        return f"A baseline, the pretrained encoder-decoder {self.pretrained}"
