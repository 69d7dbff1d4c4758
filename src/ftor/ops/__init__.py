"""Exact, parameter-free numerics: one folder per operation.

Each folder holds `naive.py` (plain torch, any device), `cpu.py` (numba kernels with hand-written
backward passes), the dispatch between the two in `__init__.py`, and the derivation in `README.md`.
"""

from ftor.ops.dispatch import LOG_ZERO, implementation

__all__ = ["LOG_ZERO", "implementation"]
