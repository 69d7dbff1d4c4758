"""The `[model]` sections of the paper's baselines: an LSTM, a relative Transformer and BART."""

from typing import Literal, Self

from pydantic import Field, model_validator

from ftor.config.section import Section, Side


class Seq2SeqConfig(Section):
    """What all baselines have: outputs are written from left to right, and found by beam search."""

    beam: int = Field(5, ge=1, description="how many unfinished outputs are kept; 1 is greedy")
    grammar_beam: int = Field(50, ge=1, description="the same with a grammar, which then chooses among them")
    max_steps: int = Field(60, ge=1, description="the most tokens of an output, its end included")

    @property
    def batch_by(self) -> Side:
        """The side whose lengths are similar within a batch."""
        return "target"

    def beam_if(self, chosen: bool) -> int:
        """How many outputs are kept, if a grammar chooses among them or not."""
        return self.grammar_beam if chosen else self.beam


class OwnSearchConfig(Seq2SeqConfig):
    """Those whose beam search is ours."""

    expansions: int = Field(5, ge=1, description="continuations of each output that the beam looks at")


class LSTMConfig(OwnSearchConfig):
    """An LSTM with additive attention: `[model]` of `architecture = "lstm"`."""

    architecture: Literal["lstm"]
    width: int = Field(200, ge=1, description="size of source and target embeddings")
    hidden: int = Field(200, ge=1, description="units of each direction of the encoder, half the decoder's")
    encoder_layers: int = Field(2, ge=1)
    decoder_layers: int = Field(1, ge=1)
    recurrent_dropout: float = Field(0.1, ge=0, lt=1, description="between time steps of the encoder")
    layer_dropout: float = Field(0.1, ge=0, lt=1, description="between the layers of the encoder")


class TransformerConfig(OwnSearchConfig):
    """A Transformer with relative positions: `[model]` of `architecture = "transformer"`."""

    architecture: Literal["transformer"]
    width: int = Field(256, ge=2, multiple_of=2, description="size of embeddings and layers")
    heads: int = Field(4, ge=1, description="of each attention; they share the width")
    layers: int = Field(3, ge=1, description="of the encoder, and of the decoder")
    hidden: int = Field(512, ge=1, description="hidden units of the feed-forward layers")
    dropout: float = Field(0.1, ge=0, lt=1, description="on attention weights and the layers' outputs")
    beam: int = Field(1, ge=1, description="how many unfinished outputs are kept; 1 is greedy")
    max_steps: int = Field(78, ge=1, description="the most tokens of an output, its end included")

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width: expected a multiple of heads, {self.heads}, found {self.width}")
        return self


class BartConfig(Seq2SeqConfig):
    """A pretrained BART: `[model]` of `architecture = "bart"`."""

    architecture: Literal["bart"]
    pretrained: str = Field("facebook/bart-base", description="a folder, or a name on the Hugging Face hub")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="probability mass that no gold token gets")
    beam: int = Field(5, ge=2, description="how many unfinished outputs are kept")
    grammar_beam: int = Field(50, ge=2, description="the same with a grammar, which then chooses among them")
    max_steps: int = Field(80, ge=1, description="the most subwords of an output, its end included")

    @property
    def batch_by(self) -> Side:
        """The side whose lengths are similar within a batch."""
        return "source"
