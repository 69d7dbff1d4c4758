"""What is said while something runs, on stderr: a progress bar on a terminal, else plain lines."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

SECONDS_BETWEEN_LINES = 10.0
STILL_STARTING = "still at the first batch; on a new machine this is when kernels are compiled"
SLOW_START = 4.0
"""Seconds until the first result after which somebody may want to know why."""


class Report:
    """Messages and progress for a person, or nothing at all if `quiet`."""

    def __init__(self, console: Console | None = None, quiet: bool = False) -> None:
        self.console = console or Console(stderr=True, soft_wrap=True, highlight=False, quiet=quiet)

    def say(self, text: str) -> None:
        """One message."""
        self.console.print(text, markup=False)

    def warn(self, text: str) -> None:
        """One message that matters."""
        self.console.print(f"warning: {text}", markup=False, style="yellow")

    def advanced(self, done: int, total: int, seconds_left: float) -> None:
        """Hear how far what is counted is; a person sees it anyway."""

    def epoch(self, record: Mapping[str, Any]) -> None:
        """Hear what was found at the end of an epoch; a person is told in words."""

    @contextmanager
    def counting(self, total: int, done: int = 0) -> Iterator["Count"]:
        """Count up to `total`, of which some may be `done` already."""
        slow = threading.Timer(SLOW_START, self.say, [STILL_STARTING])
        slow.daemon = True
        if not self.console.quiet:
            slow.start()
        try:
            yield from self._counting(total, done, slow.cancel)
        finally:
            slow.cancel()

    def _counting(self, total: int, done: int, begun: Callable[[], None]) -> Iterator["Count"]:
        if not self.console.is_terminal:
            yield Count(self, total, done, None, begun)
            return
        columns = (
            BarColumn(20),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as bar:
            yield Count(self, total, done, bar, begun)

    @contextmanager
    def loading(self, total: int | None, done: int = 0) -> Iterator["Load"]:
        """Count bytes up to `total`, if that is known, of which some may be `done` already."""
        if not self.console.is_terminal:
            yield Load(self, total, done, None)
            return
        columns = (BarColumn(20), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.console, transient=True) as bar:
            yield Load(self, total, done, bar)


class Load:
    """How many bytes have come."""

    def __init__(self, report: Report, total: int | None, done: int, bar: Progress | None) -> None:
        self._report, self._total, self._done, self._bar = report, total, done, bar
        self._task: TaskID | None = bar.add_task("", total=total, completed=done) if bar else None
        self._last_line = time.monotonic()

    def advance(self, amount: int) -> None:
        """Say that `amount` more bytes are there."""
        self._done += amount
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=amount)
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            of = f" of {self._total / 1e6:.1f}" if self._total is not None else ""
            self._report.say(f"{self._done / 1e6:.1f}{of} MB")


class Count:
    """How far something is, how fast it goes, and what there is to say about it."""

    def __init__(
        self, report: Report, total: int, done: int, bar: Progress | None, begun: Callable[[], None]
    ) -> None:
        self._report, self._bar, self._total, self._done = report, bar, total, done
        self._say_it_begins = begun
        self._task: TaskID | None = bar.add_task("", total=total, completed=done) if bar else None
        self._begun = self._last_line = time.monotonic()
        self._first = done

    @property
    def done(self) -> int:
        """How many are done."""
        return self._done

    @property
    def per_second(self) -> float:
        """The mean rate since counting began here."""
        return (self._done - self._first) / max(time.monotonic() - self._begun, 1e-9)

    def advance(self, amount: int, text: str = "") -> None:
        """Say that `amount` more are done."""
        self._say_it_begins()
        self._done += amount
        text = f"{text} {self.per_second:.0f}/s".strip()
        left = (self._total - self._done) / max(self.per_second, 1e-9)
        self._report.advanced(self._done, self._total, left)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, advance=amount, description=text)
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self._report.say(f"{self._done}/{self._total} {text}, {left:.0f} s left")


def clock(seconds: float | None) -> str:
    """Some time in the largest two units that matter; "?" if it is not known."""
    if seconds is None:
        return "?"
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
