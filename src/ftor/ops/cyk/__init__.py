"""Strings of a context-free grammar under scores of tokens: the best ones, and samples.

`NormalForm` is how a grammar comes in, and imports no torch. `strings` has the two functions.
"""

from ftor.ops.cyk.normal_form import NormalForm

__all__ = ["NormalForm"]
