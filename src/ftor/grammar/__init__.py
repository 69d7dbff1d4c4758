"""Context-free grammars of outputs: `Grammar.read("geo")`, or a file of your own.

Reading and recognising need no torch; `Grammar.best` and its siblings import `ftor.ops.cyk` when called.
"""

from ftor.grammar.earley import ParseTree
from ftor.grammar.grammar import Grammar, shipped_grammars
from ftor.grammar.reading import GrammarError, Rule

__all__ = ["Grammar", "GrammarError", "ParseTree", "Rule", "shipped_grammars"]
