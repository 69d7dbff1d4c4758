"""Thin modules over the distributions, and the encoders, to put into a model of one's own."""

from ftor.nn.encoder import BiLSTM, HighwayBiLSTM
from ftor.nn.fertility import FertilityLayer
from ftor.nn.reordering import ReorderingLayer

__all__ = ["BiLSTM", "FertilityLayer", "HighwayBiLSTM", "ReorderingLayer"]
