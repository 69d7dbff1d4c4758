"""Messages and progress on stderr: a progress bar on a terminal, plain lines elsewhere."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ftor.reporting import Count, LineCount, LineLoad, Load, Report

STILL_STARTING = "still at the first batch; on a new machine the kernels are compiled now"
SLOW_START = 4.0
"""Seconds without a first result after which `STILL_STARTING` is shown."""


class TerminalReport(Report):
    """Shows messages and progress to a person, or nothing if `quiet`."""

    def __init__(self, console: Console | None = None, quiet: bool = False) -> None:
        self.console = console or Console(stderr=True, soft_wrap=True, highlight=False, quiet=quiet)

    def say(self, text: str) -> None:
        """Print a message."""
        self.console.print(text, markup=False)

    def warn(self, text: str) -> None:
        """Print a warning in colour."""
        self.console.print(f"warning: {text}", markup=False, style="yellow")

    @contextmanager
    def counting(self, total: int, done: int = 0) -> Iterator[Count]:
        """Show a progress bar, or lines if stderr is not a terminal."""
        slow = threading.Timer(SLOW_START, self.say, [STILL_STARTING])
        slow.daemon = True
        if not self.console.quiet:
            slow.start()
        try:
            if not self.console.is_terminal:
                yield _StartedLines(self, total, done, slow.cancel)
                return
            columns = (
                BarColumn(20),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeRemainingColumn(),
            )
            with Progress(*columns, console=self.console, transient=True) as bar:
                yield _BarCount(self, total, done, bar, slow.cancel)
        finally:
            slow.cancel()

    @contextmanager
    def loading(self, total: int | None, done: int = 0) -> Iterator[Load]:
        """Show a progress bar for bytes, or lines if stderr is not a terminal."""
        if not self.console.is_terminal:
            yield LineLoad(self, total, done)
            return
        columns = (BarColumn(20), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.console, transient=True) as bar:
            yield _BarLoad(total, done, bar)


class _StartedLines(LineCount):
    """A count in lines that also reports its first step."""

    def __init__(self, report: Report, total: int, done: int, started: Callable[[], None]) -> None:
        super().__init__(report, total, done)
        self._started = started

    def show(self, amount: int, text: str) -> None:
        """Cancel the message about a slow start, then show the progress."""
        self._started()
        super().show(amount, text)


class _BarCount(Count):
    """A count that is shown as a progress bar."""

    def __init__(
        self, report: Report, total: int, done: int, bar: Progress, started: Callable[[], None]
    ) -> None:
        super().__init__(report, total, done)
        self._bar, self._started = bar, started
        self._task = bar.add_task("", total=total, completed=done)

    def show(self, amount: int, text: str) -> None:
        """Move the bar."""
        self._started()
        self._bar.update(self._task, advance=amount, description=text)


class _BarLoad(Load):
    """A count of bytes that is shown as a progress bar."""

    def __init__(self, total: int | None, done: int, bar: Progress) -> None:
        super().__init__(total, done)
        self._bar, self._task = bar, bar.add_task("", total=total, completed=done)

    def show(self, amount: int) -> None:
        """Move the bar."""
        self._bar.update(self._task, advance=amount)


def clock(seconds: float | None) -> str:
    """Format a time in its largest two units. Returns "?" for None."""
    if seconds is None:
        return "?"
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
