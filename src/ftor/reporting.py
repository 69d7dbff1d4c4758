"""Messages and progress of long work. Nothing is shown here; `ftor.show.progress` shows it in a terminal."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

SECONDS_BETWEEN_LINES = 10.0


class Count:
    """Counts items or bytes that are done.

    Args:
        total: the number of all items, or None if it is not known.
        done: the number of items that were done before.
        show: is called after each step with this object and a text about the current state.

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
        self._show, self._first, self._begun = show, done, time.monotonic()
        self.last_line = self._begun

    @property
    def per_second(self) -> float:
        """Mean rate since counting began."""
        return (self.done - self._first) / max(time.monotonic() - self._begun, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Time that the remaining items take at the mean rate. 0 if the total is not known."""
        return ((self.total or self.done) - self.done) / max(self.per_second, 1e-9)

    def advance(self, amount: int, text: str = "") -> None:
        """Add `amount` items. `text` describes the current state."""
        self.done += amount
        self._show(self, f"{text} {self.per_second:.0f}/s".strip())


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
    def loading(self, total: int | None, done: int = 0) -> Iterator[Count]:
        """Count bytes up to `total`, or without a total if it is None."""
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
        self._say_rarely(count, f"{count.done}/{count.total} {text}, {count.seconds_left:.0f} s left")

    @contextmanager
    def loading(self, total: int | None, done: int = 0) -> Iterator[Count]:
        """Write a line about the bytes every few seconds."""
        of = f" of {total / 1e6:.1f}" if total is not None else ""
        yield Count(total, done, lambda count, _: self._say_rarely(count, f"{count.done / 1e6:.1f}{of} MB"))

    def _say_rarely(self, count: Count, text: str) -> None:
        if time.monotonic() - count.last_line > SECONDS_BETWEEN_LINES:
            count.last_line = time.monotonic()
            self.say(text)
