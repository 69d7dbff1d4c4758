"""Whole models: from source ids to a loss, or to an output."""

from ftor.networks.seq2seq import Seq2Seq
from ftor.networks.transducer import Transducer

__all__ = ["Network", "Seq2Seq", "Transducer"]

Network = Transducer | Seq2Seq
