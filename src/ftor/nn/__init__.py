"""Thin modules over the distributions, to put into a model of one's own."""

from ftor.nn.fertility import FertilityLayer
from ftor.nn.reordering import ReorderingLayer

__all__ = ["FertilityLayer", "ReorderingLayer"]
