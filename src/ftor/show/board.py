"""The board of races, `ftor reproduce` and `ftor tune`: a live table on a terminal, plain lines elsewhere."""

import time
from statistics import fmean
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ftor.jobs import JobState, Status, Workload
from ftor.reporting import percent
from ftor.show.progress import TerminalReport, clock

STYLES: dict[JobState, str] = {"running": "bold", "failed": "red", "stopped": "yellow", "waiting": "dim"}
SECONDS_BETWEEN_LINES = 60.0
LINES_AROUND = 5
"""Lines of the terminal that the rows of the table cannot use."""


class Board:
    """Shows how the jobs of a workload stand.

    Args:
        report: receives lines, and its terminal the table.
        workload: the jobs.
        at_once: how many of them are run at a time. If more run, their number counts.
    """

    def __init__(self, report: TerminalReport, workload: Workload, at_once: int = 1) -> None:
        self._report, self._workload = report, workload
        self._live = Live(console=report.console, auto_refresh=False)
        self._is_live = report.console.is_terminal
        self._last_line = time.monotonic()
        self._at_once = at_once

    def __enter__(self) -> Self:
        if self._is_live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_live:
            self._live.update(self._table(), refresh=True)
            self._live.stop()

    def say(self, text: str) -> None:
        """Print a message above the table."""
        self._report.say(text)

    def changed(self, status: Status) -> None:
        """Print a line if there is no live table."""
        if not self._is_live:
            note = f": {status.note}" if status.note else ""
            self.say(f"{status.name} {status.state}{note} ({self._summary()})")

    def refresh(self) -> None:
        """Draw the table anew, or print a line every minute."""
        if self._is_live:
            self._live.update(self._table(), refresh=True)
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            running = [f"{status.name} {percent(status.share, 0)}" for status in self._in("running")]
            self.say(f"{', '.join(running) or 'nothing runs'} ({self._summary()})")

    def _in(self, *states: JobState) -> list[Status]:
        return [status for status in self._workload.statuses if status.state in states]

    def _table(self) -> Group:
        """Return a table of all jobs, or of the most important ones if the terminal is too low."""
        table = Table(box=None, pad_edge=False)
        for column in ("run", "state", "done", "left", ""):
            table.add_column(column, justify="right" if column in ("done", "left") else "left")
        statuses = self._workload.statuses
        too_many = len(statuses) > self._report.console.height - LINES_AROUND
        for status in self._in("running", "failed", "stopped") if too_many else statuses:
            left = clock(status.seconds_left) if status.state in ("running", "waiting") else ""
            share = percent(status.share, 0) if status.state in ("running", "stopped") else ""
            style = STYLES.get(status.state)
            table.add_row(status.name, status.state, share, left, Text(status.note), style=style)
        waiting = len(self._in("waiting"))
        if waiting and too_many:
            table.add_row(f"{waiting} more", "waiting", style="dim")
        return Group(Text(self._summary()), table)

    def _summary(self) -> str:
        return f"{self._workload.summary()}; {self._time_left()}"

    def _time_left(self) -> str:
        """Estimate the time until all jobs are done, also those that will be added.

        It is for as many at a time as there ever were.
        """
        lefts = [self._seconds_left(status) for status in self._in("waiting", "running")]
        known = [left for left in lefts if left is not None]
        to_come = self._workload.seconds_to_come(self._mean_seconds())
        if not lefts and to_come == 0:
            return "nothing left"
        if to_come is None or (lefts and not known):
            return "time left is not known yet"
        self._at_once = max(self._at_once, len(self._in("running")))
        now = max(sum(known) / self._at_once, *known) if known else 0.0
        return f"about {clock(now + to_come / self._at_once)} left"

    def _seconds_left(self, status: Status) -> float | None:
        """Return the seconds that a job still takes: its own number, or that of jobs like it."""
        if status.seconds_left is not None:
            return status.seconds_left
        seconds = self._mean_seconds(status.job.config.name) or self._mean_seconds()
        return None if seconds is None else seconds * (1 - status.share)

    def _mean_seconds(self, experiment: str | None = None) -> float | None:
        """Return the mean seconds of the jobs of an experiment, or of all jobs."""
        known = [
            status.seconds
            for status in self._workload.statuses
            if status.seconds and experiment in (None, status.job.config.name)
        ]
        return fmean(known) if known else None
