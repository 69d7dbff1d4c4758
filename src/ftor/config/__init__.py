"""Typed configurations: one TOML file per experiment, checked before anything runs."""

from ftor.config.loading import (
    Aligner,
    Config,
    ConfigError,
    DataConfig,
    DecodingConfig,
    Tokenizer,
    TrainingConfig,
    TransducerConfig,
    shipped,
)

__all__ = [
    "Aligner",
    "Config",
    "ConfigError",
    "DataConfig",
    "DecodingConfig",
    "Tokenizer",
    "TrainingConfig",
    "TransducerConfig",
    "shipped",
]
