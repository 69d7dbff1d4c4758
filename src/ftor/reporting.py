"""Messages and progress that any room may report. This module shows nothing; `ftor.show` does."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

SECONDS_BETWEEN_LINES = 10.0


class Count:
    """Counts items that are done, out of a known total.

    Args:
        report: the report that the count belongs to.
        total: number of items.
        done: number of items that were done before.
    """

    def __init__(self, report: "Report", total: int, done: int = 0) -> None:
        self.total, self.done = total, done
        self._report, self._first, self._begun = report, done, time.monotonic()

    @property
    def per_second(self) -> float:
        """Mean rate since counting began."""
        return (self.done - self._first) / max(time.monotonic() - self._begun, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Time that the remaining items take at the mean rate."""
        return (self.total - self.done) / max(self.per_second, 1e-9)

    def advance(self, amount: int, text: str = "") -> None:
        """Add `amount` items. `text` describes the current state."""
        self.done += amount
        self._report.advanced(self.done, self.total, self.seconds_left)
        self.show(amount, f"{text} {self.per_second:.0f}/s".strip())

    def show(self, amount: int, text: str) -> None:
        """Show the progress. Subclasses override this."""


class Load:
    """Counts bytes. `total` is None if the size is not known."""

    def __init__(self, total: int | None, done: int = 0) -> None:
        self.total, self.done = total, done

    def advance(self, amount: int) -> None:
        """Add `amount` bytes."""
        self.done += amount
        self.show(amount)

    def show(self, amount: int) -> None:
        """Show the progress. Subclasses override this."""


class Report:
    """A report that shows nothing. Subclasses override the methods they need."""

    def say(self, text: str) -> None:
        """Show a message."""

    def warn(self, text: str) -> None:
        """Show a warning."""

    def advanced(self, done: int, total: int, seconds_left: float) -> None:
        """Receive the state of a count after each step."""

    def epoch(self, record: Mapping[str, Any]) -> None:
        """Receive the log record of a finished epoch."""

    @contextmanager
    def counting(self, total: int, done: int = 0) -> Iterator[Count]:
        """Count items up to `total`."""
        yield Count(self, total, done)

    @contextmanager
    def loading(self, total: int | None, done: int = 0) -> Iterator[Load]:
        """Count bytes up to `total`, or without a total if it is None."""
        yield Load(total, done)


SILENT = Report()
"""The default report of functions that take one."""


class LineReport(Report):
    """Writes messages as plain lines to a text stream, and progress every few seconds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def say(self, text: str) -> None:
        """Write one line."""
        print(text, file=self._stream, flush=True)

    def warn(self, text: str) -> None:
        """Write one line that begins with "warning"."""
        self.say(f"warning: {text}")

    @contextmanager
    def counting(self, total: int, done: int = 0) -> Iterator[Count]:
        """Write a line about the count every few seconds."""
        yield LineCount(self, total, done)

    @contextmanager
    def loading(self, total: int | None, done: int = 0) -> Iterator[Load]:
        """Write a line about the bytes every few seconds."""
        yield LineLoad(self, total, done)


class LineCount(Count):
    """A count that is written as lines."""

    def __init__(self, report: Report, total: int, done: int = 0) -> None:
        super().__init__(report, total, done)
        self._last_line = time.monotonic()

    def show(self, amount: int, text: str) -> None:
        """Write a line if the last one is some seconds old."""
        if time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self._report.say(f"{self.done}/{self.total} {text}, {self.seconds_left:.0f} s left")


class LineLoad(Load):
    """A count of bytes that is written as lines."""

    def __init__(self, report: Report, total: int | None, done: int = 0) -> None:
        super().__init__(total, done)
        self._report, self._last_line = report, time.monotonic()

    def show(self, amount: int) -> None:
        """Write a line if the last one is some seconds old."""
        if time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            total = f" of {self.total / 1e6:.1f}" if self.total is not None else ""
            self._report.say(f"{self.done / 1e6:.1f}{total} MB")
