"""Grammars over the units of programs: inferred from training, or compiled from the original notation."""

from ftor.text.programs.grammars.compiling import over_units
from ftor.text.programs.grammars.inferring import inferred_grammar

__all__ = ["inferred_grammar", "over_units"]
