"""What is seen while runs go on: a live table on a terminal, else a line for whatever happens."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ftor.lab.status import State, Status
from ftor.show.progress import TerminalReport, clock

STYLES: dict[State, str] = {"running": "bold", "failed": "red", "stopped": "yellow", "waiting": "dim"}
SECONDS_BETWEEN_LINES = 60.0
LINES_AROUND = 5
"""Of the live table: a summary, a header, and what stands before and after it."""


class Board:
    """Shows how all runs stand.

    Args:
        report: where.
        statuses: of the runs that are to be carried out.
        before: how many had been done before.
    """

    def __init__(self, report: TerminalReport, statuses: Sequence[Status], before: int) -> None:
        self._report, self._statuses, self._before = report, statuses, before
        self._live: Live | None = None
        self._last_line = time.monotonic()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show it live, if there is a terminal."""
        if not self._report.console.is_terminal:
            yield
            return
        with Live(self._table(), console=self._report.console, auto_refresh=False) as self._live:
            yield
            self._live.update(self._table(), refresh=True)

    def changed(self, status: Status) -> None:
        """A run is in another state."""
        if self._live is None:
            note = f": {status.note}" if status.note else ""
            self._report.say(f"{status.name} {status.state}{note} ({self._summary()})")

    def refresh(self) -> None:
        """Some time has passed."""
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            running = [f"{s.name} {100 * s.share:.0f} %" for s in self._statuses if s.state == "running"]
            self._report.say(f"{', '.join(running) or 'nothing runs'} ({self._summary()})")

    def _table(self) -> Group:
        """All runs, or those that matter most if they are many."""
        table = Table(box=None, pad_edge=False)
        for column in ("run", "state", "done", "left", ""):
            table.add_column(column, justify="right" if column in ("done", "left") else "left")
        in_full = len(self._statuses) <= self._report.console.height - LINES_AROUND
        for status in self._statuses:
            if in_full or status.state in ("running", "failed", "stopped"):
                style = STYLES.get(status.state)
                left = clock(status.seconds_left) if status.state in ("running", "waiting") else ""
                share = f"{100 * status.share:.0f} %" if status.state in ("running", "stopped") else ""
                table.add_row(status.name, status.state, share, left, Text(status.note), style=style)
        waiting = self._count("waiting")
        if waiting and not in_full:
            table.add_row(f"{waiting} more", "waiting", style="dim")
        return Group(Text(self._summary()), table)

    def _summary(self) -> str:
        counts = {"done": self._before + self._count("done")}
        states: tuple[State, ...] = ("running", "waiting", "failed", "stopped")
        counts |= {state: self._count(state) for state in states}
        text = ", ".join(f"{count} {state}" for state, count in counts.items() if count or state == "done")
        return f"{text}; {self._time_left()}"

    def _time_left(self) -> str:
        """Until all are done, if as many go on side by side as now."""
        to_do = [status for status in self._statuses if status.state in ("waiting", "running")]
        if not to_do:
            return "nothing left"
        lefts = [left for left in map(self._seconds_left, to_do) if left is not None]
        if not lefts:
            return "time left is not known yet"
        return f"about {clock(max(sum(lefts) / max(1, self._count('running')), *lefts))} left"

    def _seconds_left(self, status: Status) -> float | None:
        """Of a run; one that does not know is taken to be like those of its experiment, or like all."""
        if status.seconds_left is not None:
            return status.seconds_left
        known = [(other.planned.row.experiment, other.whole) for other in self._statuses if other.whole]
        alike = [whole for experiment, whole in known if experiment == status.planned.row.experiment]
        wholes = alike or [whole for _, whole in known]
        return statistics.mean(wholes) * (1 - status.share) if wholes else None

    def _count(self, state: State) -> int:
        return sum(status.state == state for status in self._statuses)
