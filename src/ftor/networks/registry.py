"""The networks by name, each a module and a class."""

from importlib import import_module
from pathlib import Path

from ftor.config import Config
from ftor.networks.network import Network
from ftor.text.vocabularies import Vocabularies

_NETWORKS = {
    "transducer": "ftor.networks.transducer:Transducer",
    "committee": "ftor.networks.committee:Committee",
    "rescored": "ftor.networks.rescored:Rescored",
    "rescored-committee": "ftor.networks.rescored:RescoredCommittee",
    "lstm": "ftor.networks.lstm:LSTMSeq2Seq",
    "lstm-members": "ftor.networks.lstm_members:LSTMMembers",
    "transformer": "ftor.networks.transformer:RelativeTransformer",
    "bart": "ftor.networks.pretrained:Pretrained",
    "pretrained": "ftor.networks.pretrained:Pretrained",
}
"""Modules are imported when they are asked for: that of pretrained networks imports transformers, which takes
seconds and is an optional dependency."""


def build(
    config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
) -> tuple[Network, Vocabularies]:
    """See `Network.build`."""
    module, _, name = _NETWORKS[config.model.network].partition(":")
    network_class: type[Network] = getattr(import_module(module), name)
    return network_class.build(config, words, vector_size, folder)
