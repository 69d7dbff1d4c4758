"""How the C library manages the memory of training."""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of malloc.h
_KEPT, _BY_ITSELF = 1 << 29, 1 << 25


def keep_freed_memory() -> None:
    """Let the process keep up to 512 MB that it has freed, if its C library is glibc.

    Else glibc keeps at most 64 MB. It gives the rest back to the system in many steps, and each page is
    cleared again when the next step needs it. Tensors above 32 MB are still given back: their memory would
    be cut up by small ones.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # only glibc has it
        if mallopt is not None:
            mallopt(_MMAP_THRESHOLD, _BY_ITSELF)
            mallopt(_TRIM_THRESHOLD, _KEPT)
