"""The network of each architecture, with the vocabularies that number its tokens."""

from pathlib import Path

from ftor.config import Config
from ftor.config.baselines import BartConfig, LSTMConfig, TransformerConfig
from ftor.networks import Network, Transducer
from ftor.text.subwords import SubwordVocabularies
from ftor.text.vocabularies import Vocabularies

PRETRAINED = "pretrained"
"""Where a model folder describes the pretrained network that the model is made of."""


def build(
    config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
) -> tuple[Network, Vocabularies]:
    """An untrained network, or a pretrained one, and its vocabularies.

    Args:
        config: the architecture and its sizes.
        words: those of the training pairs.
        vector_size: E of pretrained word vectors, if there are any.
        folder: a model folder that describes a pretrained network, which then has no weights yet.
    """
    model, sizes = config.model, (len(words.source), len(words.target))
    if isinstance(model, LSTMConfig):
        from ftor.networks.lstm import LSTMSeq2Seq

        return LSTMSeq2Seq(model, *sizes, vector_size), words
    if isinstance(model, TransformerConfig):
        from ftor.networks.transformer import RelativeTransformer

        return RelativeTransformer(model, *sizes), words
    if isinstance(model, BartConfig):
        from ftor.networks import bart

        made = bart.pretrained(model) if folder is None else bart.described(model, folder / PRETRAINED)
        network, tokenizer = made
        return network, SubwordVocabularies.around(words, tokenizer, network.longest)
    return Transducer(model, *sizes, vector_size, config.data.emphasis), words


def describe(network: Network, vocabularies: Vocabularies, folder: Path) -> None:
    """Write into a model folder what `build` needs of a pretrained network."""
    if isinstance(vocabularies, SubwordVocabularies):
        from ftor.networks.bart import Bart

        assert isinstance(network, Bart)
        network.save_description(folder / PRETRAINED, vocabularies.tokenizer)
