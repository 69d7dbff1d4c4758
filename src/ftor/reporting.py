"""Messages and progress of long work, and numbers in words. `ftor.show.progress` shows them in a terminal."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

SECONDS_BETWEEN_LINES = 10.0


def percent(share: float, decimals: int = 1) -> str:
    """A share as people read it: `12.5 %`."""
    return f"{100 * share:.{decimals}f} %"


def counted(count: int, thing: str) -> str:
    """A number of things: `1 pair`, `2 pairs`."""
    return f"{count} {thing}" + "s" * (count != 1)


class Count:
    """Counts items or bytes that are done.

    Args:
        total: the number of all items, or None if it is not known.
        done: the number of items that were done before.
        show: is called after each step with this object and a text about the current state.

    The clock starts after the first step, because the first step may compile kernels.

    Attributes:
        last_line: when `LineReport` last wrote a line about it.
    """

    def __init__(
        self,
        total: int | None,
        done: int = 0,
        show: Callable[["Count", str], None] = lambda count, text: None,
    ) -> None:
        self.total, self.done = total, done
        self._show, self._first = show, done
        self._begun: float | None = None
        self.last_line = time.monotonic()

    @property
    def per_second(self) -> float | None:
        """Mean rate since the first step. None before the second one."""
        if self._begun is None or self.done == self._first:
            return None
        return (self.done - self._first) / max(time.monotonic() - self._begun, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Time that the remaining items take at the mean rate. None if it is not known."""
        rate = self.per_second
        return None if self.total is None or rate is None else (self.total - self.done) / rate

    def advance(self, amount: int, text: str = "") -> None:
        """Add `amount` items. `text` describes the current state."""
        self.done += amount
        if self._begun is None:
            self._begun, self._first = time.monotonic(), self.done
        rate = self.per_second
        self._show(self, text if rate is None else f"{text} {rate:.0f}/s".strip())


class Report:
    """Receives messages and progress, and shows nothing. Subclasses override the methods they need."""

    def say(self, text: str) -> None:
        """Show a message."""

    def warn(self, text: str) -> None:
        """Show a warning."""

    def progress(self, count: Count, text: str) -> None:
        """Receive the state of a count of items after each step."""

    def epoch(self, record: Mapping[str, Any]) -> None:
        """Receive the log record of a finished epoch."""

    @contextmanager
    def counting(self, total: int, done: int = 0) -> Iterator[Count]:
        """Count items up to `total`."""
        yield Count(total, done, self.progress)

    @contextmanager
    def loading(self, total: int | None, done: int = 0, computing: bool = False) -> Iterator[Count]:
        """Count bytes up to `total`, or without a total if it is None.

        `computing` says that much is computed for the bytes, so that the first may take long.
        """
        yield Count(total, done)


SILENT = Report()
"""The default report of functions that take one."""


class LineReport(Report):
    """Writes messages as plain lines to a text stream, and progress every few seconds."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def say(self, text: str) -> None:
        """Write one line."""
        print(text, file=self._stream, flush=True)

    def warn(self, text: str) -> None:
        """Write one line that begins with "warning"."""
        self.say(f"warning: {text}")

    def progress(self, count: Count, text: str) -> None:
        """Write a line if the last one is some seconds old."""
        left = count.seconds_left
        time_left = "" if left is None else f", {left:.0f} s left"
        self._say_rarely(count, f"{count.done}/{count.total} {text}{time_left}")

    @contextmanager
    def loading(self, total: int | None, done: int = 0, computing: bool = False) -> Iterator[Count]:
        """Write a line about the bytes every few seconds."""
        of = f" of {total / 1e6:.1f}" if total is not None else ""
        yield Count(total, done, lambda count, _: self._say_rarely(count, f"{count.done / 1e6:.1f}{of} MB"))

    def _say_rarely(self, count: Count, text: str) -> None:
        if time.monotonic() - count.last_line > SECONDS_BETWEEN_LINES:
            count.last_line = time.monotonic()
            self.say(text)
