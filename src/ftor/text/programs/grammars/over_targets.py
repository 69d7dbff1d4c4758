"""Grammars over what targets are written in: from tokens or a notation to units."""

from ftor.grammar import Grammar, GrammarError
from ftor.text.programs.grammars.compiling import compiled
from ftor.text.programs.grammars.tokens import grammar_over_units
from ftor.text.programs.pairs import TargetUnits
from ftor.text.programs.token_pieces import PieceUnits
from ftor.text.programs.tokens import TokenUnits


def over_units(grammar: Grammar, programs: TargetUnits | None) -> Grammar:
    """A grammar over the tokens of targets as a grammar over the units that they are written in, if any."""
    if programs is None:
        return grammar
    if isinstance(programs, PieceUnits):
        if programs.units.keys() | programs.tokens >= set(grammar.terminals):
            return grammar
        raise GrammarError(
            f"{grammar.name}: targets are read in pieces, and a grammar must be over them; "
            "data.programs=none reads whole tokens"
        )
    if isinstance(programs, TokenUnits):
        return grammar_over_units(grammar, programs.units)
    return compiled(grammar, programs)
