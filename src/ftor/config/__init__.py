"""Typed configurations: one TOML file per experiment, checked before anything runs."""

from ftor.config.loading import Config, ConfigError, shipped
from ftor.config.sections import (
    Aligner,
    BartConfig,
    DataConfig,
    DecodingConfig,
    LSTMConfig,
    NetworkConfig,
    Tokenizer,
    TrainingConfig,
    TransducerConfig,
    TransformerConfig,
)

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
