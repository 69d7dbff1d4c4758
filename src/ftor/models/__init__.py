"""Whole models: from source ids to a loss, or to an output."""

from ftor.models.seq2seq import Seq2Seq
from ftor.models.transducer import Transducer

__all__ = ["Network", "Seq2Seq", "Transducer"]

Network = Transducer | Seq2Seq
