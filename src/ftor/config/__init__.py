"""Typed configurations: one TOML file per experiment, checked before anything runs."""

from ftor.config.architectures import (
    BartConfig,
    LSTMConfig,
    NetworkConfig,
    TransducerConfig,
    TransformerConfig,
)
from ftor.config.complaints import ConfigError
from ftor.config.loading import Config, shipped
from ftor.config.sections import Aligner, DataConfig, DecodingConfig, Tokenizer, TrainingConfig

__all__ = [
    "Aligner",
    "BartConfig",
    "Config",
    "ConfigError",
    "DataConfig",
    "DecodingConfig",
    "LSTMConfig",
    "NetworkConfig",
    "Tokenizer",
    "TrainingConfig",
    "TransducerConfig",
    "TransformerConfig",
    "shipped",
]
