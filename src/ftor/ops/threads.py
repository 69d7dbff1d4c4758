"""Runs a numba kernel on the rows of a batch, in torch's own threads."""

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ftor.ops.arrays import Array

PARTS_PER_THREAD = 4  # more parts than threads, so that one slow thread does not delay the others
WORTH_A_THREAD = 1e-4  # seconds; below this, waking another thread takes longer than the work

_forked = False  # threads do not survive a fork, and OpenMP does not start new ones after it


def _note_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def run_rows(kernel: Callable[..., None], seconds: Array, *args: Any) -> None:
    """Call `kernel(rows, *args)` until every row is done; `seconds` (B,) estimates the time of each row.

    Kernels are compiled with `nogil=True` and each writes only to its own rows, so the calls can run at the
    same time. Several threads may call this function at once.
    """
    threads = 1 if _forked else torch.get_num_threads()
    if threads == 1 or len(seconds) == 1 or seconds.sum() < WORTH_A_THREAD:
        kernel(np.arange(len(seconds)), *args)
        return
    parts = min(threads * PARTS_PER_THREAD, len(seconds))
    slowest_first = np.argsort(-seconds, kind="stable")
    # Contiguous, or numba would compile every kernel a second time for strided rows.
    queue = iter([slowest_first[part::parts].copy() for part in range(parts)])

    def work() -> None:
        for rows in queue:
            kernel(rows, *args)

    _side_by_side(work, threads)


def _side_by_side(work: Callable[[], None], threads: int) -> None:
    """Call `work` once in each of `threads` threads, and raise the last error of any."""
    team = _torch_team()
    if team is None:
        running = [_pool(threads - 1).submit(work) for _ in range(threads - 1)]
        work()
        for future in running:
            future.result()
        return
    errors: list[BaseException] = []

    def work_or_note(_: object) -> None:
        try:
            work()
        except BaseException as error:  # ctypes would drop it
            errors.append(error)

    team(_CALLBACK(work_or_note), None, threads, 0)
    if errors:
        raise errors[-1]


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="ftor")


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@cache
def _torch_team() -> Any:
    """The function of GNU OpenMP that runs code in the threads of torch, if torch comes with that library.

    Its threads spin for milliseconds after each of torch's operations. Threads of our own would share the
    cores with them and run at half their speed.
    """
    for library in sorted((Path(torch.__file__).parent / "lib").glob("libgomp*.so*")):
        team = ctypes.CDLL(str(library)).GOMP_parallel
        team.argtypes = [_CALLBACK, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        team.restype = None
        return team
    return None
