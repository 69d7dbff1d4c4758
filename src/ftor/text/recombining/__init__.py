"""Recombined pairs: parts of training programs put together anew, with the phrases that name them.

A *part* of a program is a subtree, or a modifier: a node without the subtree of its own kind that it
modifies, such as a filter without the set that it filters. The aligner says which words name a part. A part
is replaced by another one of its kind, or a modifier is put beside another one, or an item beside another one
of a list. The sentence is put together in the same way.

Where targets are plain tokens, a whole pair in another one is replaced by a third: `substituting`.
"""

from ftor.text.recombining.recombiner import Recombiner
from ftor.text.recombining.substituting import can_substitute, substituted

__all__ = ["Recombiner", "can_substitute", "substituted"]
