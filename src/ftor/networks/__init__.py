"""Whole networks: from source ids to a loss, or to outputs."""

from ftor.networks.network import Constraint, Losses, Network, Output
from ftor.networks.registry import build

__all__ = ["Constraint", "Losses", "Network", "Output", "build"]
