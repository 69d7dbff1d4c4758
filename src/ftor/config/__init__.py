"""Typed configurations: one TOML file per experiment, checked before anything runs."""

from ftor.config.architectures import TransducerConfig
from ftor.config.complaints import ConfigError
from ftor.config.loading import Config, shipped
from ftor.config.network import NetworkConfig
from ftor.config.sections import Aligner, DataConfig, DecodingConfig, Tokenizer, TrainingConfig
from ftor.config.seq2seq import FineTunedConfig, LSTMConfig, TransformerConfig

__all__ = [
    "Aligner",
    "Config",
    "ConfigError",
    "DataConfig",
    "DecodingConfig",
    "FineTunedConfig",
    "LSTMConfig",
    "NetworkConfig",
    "Tokenizer",
    "TrainingConfig",
    "TransducerConfig",
    "TransformerConfig",
    "shipped",
]
