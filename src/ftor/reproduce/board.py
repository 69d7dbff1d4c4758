"""What is seen while runs go on: a live table on a terminal, else a line for whatever happens."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ftor.progress import Report, clock
from ftor.reproduce.plan import Planned

State = Literal["waiting", "running", "done", "failed", "stopped"]
STYLES: dict[State, str] = {"running": "bold", "failed": "red", "stopped": "yellow", "waiting": "dim"}
SECONDS_BETWEEN_LINES = 60.0
LINES_AROUND = 5
"""Of the live table: a summary, a header, and what stands before and after it."""


@dataclass
class Status:
    """How a run stands.

    Attributes:
        expected: seconds that it takes from beginning to end, if that is known.
        share: how much of it is done.
        left: seconds that it will still take, as it says itself.
        note: what else there is to know: where it runs, what came out, what went wrong.
        losses: how often the machine that carried it out was lost.
    """

    planned: Planned
    expected: float | None = None
    state: State = "waiting"
    share: float = 0.0
    left: float | None = None
    note: str = ""
    losses: int = 0

    @property
    def name(self) -> str:
        """What to call the run."""
        return self.planned.name

    @property
    def whole(self) -> float | None:
        """Seconds from beginning to end, if they can be told from what is left or are known."""
        if self.left is not None and self.share < 1:
            return self.left / (1 - self.share)
        return self.expected

    @property
    def seconds_left(self) -> float | None:
        """Until it is done, if that can be told."""
        if self.state == "running" and self.left is not None:
            return self.left
        if self.state in ("waiting", "running"):
            return None if self.expected is None else self.expected * (1 - self.share)
        return 0.0


class Board:
    """Shows how all runs stand.

    Args:
        report: where.
        statuses: of the runs that are to be carried out.
        before: how many had been done before.
    """

    def __init__(self, report: Report, statuses: Sequence[Status], before: int) -> None:
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


def headline(record: dict[str, Any]) -> str:
    """What came out of a run, in a few words: its first share, with the grammar if there is one, or score."""
    test = record.get("test_grammar") or record["test"]
    if test.get("scores"):
        name = "BLEU-4"
        return f"{name} {100 * test['scores'][name]:.1f}"
    shares = {name: share for name, share in (test.get("shares") or {}).items() if name != "well_formed"}
    name, share = next(iter(shares.items()), ("exact_match", test["exact_match"]))
    with_grammar = " with the grammar" if "test_grammar" in record else ""
    return f"{name.replace('_', ' ')} {100 * share:.1f} %{with_grammar}"
