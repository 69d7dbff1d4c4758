"""Messages and progress on stderr: a progress bar on a terminal, plain lines elsewhere."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ftor.reporting import Count, LineReport

STILL_STARTING = "still at the first batch: a new machine compiles the kernels now, and a busy one is slow"
SLOW_START = 4.0
"""Seconds without a first result after which `STILL_STARTING` is shown."""


class TerminalReport(LineReport):
    """Shows messages and progress to a person, or nothing if `quiet`."""

    def __init__(self, console: Console | None = None, quiet: bool = False) -> None:
        self.console = console or Console(stderr=True, soft_wrap=True, highlight=False, quiet=quiet)
        super().__init__(self.console.file)
        self._said_slow = False

    def say(self, text: str) -> None:
        """Print a message."""
        self.console.print(text, markup=False)

    def warn(self, text: str) -> None:
        """Print a warning in colour."""
        self.console.print(f"warning: {text}", markup=False, style="yellow")

    @contextmanager
    def counting(self, total: int, done: int = 0) -> Iterator[Count]:
        """Show a progress bar, or lines if stderr is not a terminal."""
        columns = (MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        lines = super().counting(total, done)
        bar = self._bar(total, done, *columns) if self.console.is_terminal else lines
        with bar as count, self._noting_a_slow_start(count):
            yield count

    @contextmanager
    def _noting_a_slow_start(self, count: Count) -> Iterator[None]:
        slow = threading.Timer(SLOW_START, self._say_slow, [count, count.done])
        slow.daemon = True
        slow.start()
        try:
            yield
        finally:
            slow.cancel()

    def _say_slow(self, count: Count, done: int) -> None:
        """Explain once why there is no result yet. A run counts several things, one after the other."""
        if count.done == done and not self._said_slow:
            self._said_slow = True
            self.say(STILL_STARTING)

    @contextmanager
    def loading(self, total: int | None, done: int = 0, computing: bool = False) -> Iterator[Count]:
        """Show a progress bar for bytes, or lines if stderr is not a terminal."""
        columns = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        lines = super().loading(total, done)
        bar = self._bar(total, done, *columns) if self.console.is_terminal else lines
        with bar as count, self._noting_a_slow_start(count) if computing else nullcontext():
            yield count

    @contextmanager
    def _bar(self, total: int | None, done: int, *columns: ProgressColumn) -> Iterator[Count]:
        with Progress(BarColumn(20), *columns, console=self.console, transient=True) as bar:
            task = bar.add_task("", total=total, completed=done)
            yield Count(
                total, done, lambda count, text: bar.update(task, completed=count.done, description=text)
            )


def clock(seconds: float | None) -> str:
    """Format a time in its largest two units. Returns "?" for None."""
    if seconds is None:
        return "?"
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
