"""Recombined pairs: parts of training programs put together anew, with the phrases that name them.

A *part* of a program is a subtree, or a modifier: a node without the subtree of its own kind that it
modifies, such as a filter without the set that it filters. The aligner says which words name a part. A part
is replaced by another one of its kind, or a modifier is put beside another one, or an item beside another one
of a list. The sentence is put together in the same way.
"""

from ftor.text.recombining.recombiner import Recombiner

__all__ = ["Recombiner"]
