"""A look at pairs: what they are like, what is odd about them, and which settings follow."""

from ftor.tuning.look.findings import Finding, Look
from ftor.tuning.look.looking import look

__all__ = ["Finding", "Look", "look"]
