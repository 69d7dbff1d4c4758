"""Layers over the distributions, and the other layers of the networks."""

from ftor.nn.decoder import AutoregressiveDecoder, IndependentDecoder
from ftor.nn.embedding import PretrainedEmbedding
from ftor.nn.encoder import BiLSTM, HighwayBiLSTM
from ftor.nn.fertility import FertilityLayer
from ftor.nn.reordering import ReorderingLayer

__all__ = [
    "AutoregressiveDecoder",
    "BiLSTM",
    "FertilityLayer",
    "HighwayBiLSTM",
    "IndependentDecoder",
    "PretrainedEmbedding",
    "ReorderingLayer",
]
