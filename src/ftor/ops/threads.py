"""Runs a numba kernel on the rows of a batch, in as many threads as torch uses."""

import heapq
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

Array = np.ndarray[Any, Any]

_pool: ThreadPoolExecutor | None = None
_pool_size = 0


def _forget_pool() -> None:
    global _pool, _pool_size
    _pool, _pool_size = None, 0


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_forget_pool)


def as_array(tensor: Tensor) -> Array:
    """View a CPU tensor as a contiguous array, or copy it into one."""
    return tensor.detach().contiguous().numpy()


def _share_out(costs: Array, shares: int) -> list[Array]:
    """Split rows into shares of about equal cost: the costliest row first, to the lightest share."""
    load = [(0.0, share) for share in range(shares)]
    rows: list[list[int]] = [[] for _ in range(shares)]
    for row in np.argsort(-costs, kind="stable"):
        total, share = heapq.heappop(load)
        rows[share].append(int(row))
        heapq.heappush(load, (total + float(costs[row]), share))
    return [np.array(sorted(share), dtype=np.int64) for share in rows if share]


def run_rows(kernel: Callable[..., None], costs: Array, *args: Any) -> None:
    """Call `kernel(rows, *args)` until every row is done; `costs` (B,) says how long each row takes.

    Kernels are compiled with `nogil=True` and each writes only to its own rows, so that the calls run
    side by side. Python's threads rather than numba's: they wait without spinning, may be entered from
    several threads at once, and survive a fork.
    """
    global _pool, _pool_size
    threads = min(torch.get_num_threads(), len(costs))
    if threads <= 1:
        kernel(np.arange(len(costs), dtype=np.int64), *args)
        return
    if _pool is None or _pool_size < threads - 1:
        _pool, _pool_size = ThreadPoolExecutor(threads - 1, thread_name_prefix="ftor"), threads - 1
    first, *others = _share_out(costs, threads)
    running = [_pool.submit(kernel, rows, *args) for rows in others]
    kernel(first, *args)
    for future in running:
        future.result()
