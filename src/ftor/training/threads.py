"""How many threads train fastest, here and now. A core that another program uses makes two threads slower."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

SECONDS = 1.0
"""That measuring may take, after one pass that loads the kernels."""
SHORT = 20.0
"""A run of fewer seconds is over before more threads would have paid."""
GAIN = 1.2
"""How many times as fast more threads have to be. A core that is idle now may be busy later."""
MOST = 8
"""Threads that are tried. The rows of a batch do not keep more of them busy."""


class Choice(NamedTuple):
    """A number of threads, and the gain of the best number above one, if it was measured."""

    threads: int
    gain: float | None

    def __str__(self) -> str:
        if self.gain is None:
            return f"threads: {self.threads}"
        return f"threads: {self.threads}; more than one are {self.gain:.1f} times as fast as one here"


def fastest(passes: Callable[[int], object], steps: int, most: int) -> Choice:
    """Measure with how many threads a pass over a batch takes least time on the clock. It stays set.

    Args:
        passes: the forward and backward pass of some step, by a number.
        steps: how many steps the run has.
        most: as many threads may be used.
    """
    torch.set_num_threads(1)
    numbers = [number for number in (1, 2, 4, MOST) if number <= most]
    if len(numbers) == 1:
        return Choice(1, None)
    passes(0)  # loads or compiles the kernels
    if steps * _seconds(passes, 0) < SHORT:
        return Choice(1, None)
    times: dict[int, list[float]] = {number: [] for number in numbers}
    begin, turn = time.perf_counter(), 0
    while turn < 3 or time.perf_counter() - begin < SECONDS:
        for number in numbers:  # in turns, so that a busy moment affects all
            torch.set_num_threads(number)
            times[number].append(_seconds(passes, turn))
        turn += 1
    # Without the first turn, which starts the threads.
    middle = {number: statistics.median(values[1:]) for number, values in times.items()}
    best = min(numbers[1:], key=lambda number: middle[number])
    gain = middle[1] / middle[best]
    chosen = best if gain >= GAIN else 1
    torch.set_num_threads(chosen)
    return Choice(chosen, gain)


def _seconds(passes: Callable[[int], object], number: int) -> float:
    begin = time.perf_counter()
    passes(number)
    return time.perf_counter() - begin
