"""Typed configurations: one TOML file per experiment, checked before anything runs."""

from ftor.config.architectures import (
    FineTunedConfig,
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
