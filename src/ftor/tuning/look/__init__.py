"""A look at pairs: what they are like, what is odd about them, and which settings follow."""

from ftor.tuning.look.findings import Finding, Look
from ftor.tuning.look.left_out import lines_left_out
from ftor.tuning.look.looking import look

__all__ = ["Finding", "Look", "lines_left_out", "look"]
