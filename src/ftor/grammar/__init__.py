"""Context-free grammars of outputs: `Grammar.read("geo")`, or a file of your own.

Reading a grammar and recognising strings need no torch. `Grammar.best`, `n_best` and `sample` import it.
"""

from ftor.grammar.earley import ParseTree
from ftor.grammar.grammar import Grammar, shipped_grammars
from ftor.grammar.reading import GrammarError, Rule

__all__ = ["Grammar", "GrammarError", "ParseTree", "Rule", "shipped_grammars"]
