"""Grammars over the units of programs: inferred from training, or compiled from the notation, and back."""

from ftor.text.programs.grammars.compiling import left_out
from ftor.text.programs.grammars.inferring import grammar_of, inferred_grammar
from ftor.text.programs.grammars.over_targets import over_units
from ftor.text.programs.grammars.spelling import in_notation
from ftor.text.programs.grammars.targets import has_json_strings, likely_unit, read_targets

__all__ = [
    "grammar_of",
    "has_json_strings",
    "in_notation",
    "inferred_grammar",
    "left_out",
    "likely_unit",
    "over_units",
    "read_targets",
]
