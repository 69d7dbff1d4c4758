"""Whole models: from source ids to a loss, or to an output."""

from ftor.models.transducer import Transducer

__all__ = ["Transducer"]
