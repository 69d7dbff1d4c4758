"""What is told while a search goes on, on stderr: lines, and on a terminal how far each run is."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.text import Text

from ftor.jobs import Progress
from ftor.show.progress import TerminalReport, clock
from ftor.tuning.plan import Plan
from ftor.tuning.space import Value
from ftor.tuning.trials import FINALISTS, Result, Trial

SECONDS_BETWEEN_LINES = 60.0


@dataclass
class _Run:
    """How far a run is."""

    best: float | None = None
    progress: Progress | None = None
    whole: float | None = None  # seconds, as far as it can tell


class Watch:
    """Tells a person how a search goes.

    Args:
        plan: the search.
        trials: what has been tried before, if it goes on.
        slots: how many runs there are at a time.
        report: where it is told.
    """

    def __init__(self, plan: Plan, trials: Sequence[Trial], slots: int, report: TerminalReport) -> None:
        self._plan, self._slots, self._report = plan, slots, report
        self._trials = {trial.number: trial for trial in trials}
        self._results = [result for trial in trials for result in trial.results.values()]
        self._results += [trial.third for trial in trials if isinstance(trial.third, Result)]
        self._runs: dict[str, _Run] = {}
        self._last_line = time.monotonic()
        self._live = Live(console=report.console, transient=True, auto_refresh=False)
        self._is_live = report.console.is_terminal

    def __enter__(self) -> Self:
        if self._is_live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_live:
            self._live.stop()

    def began(self, trial: Trial) -> None:
        """Trial is drawn, or gone on with."""
        self._trials[trial.number] = trial
        self._report.say(f"trial {trial.number}: {_unchanged(trial)}{parameters(trial.values)}")

    def started(self, name: str) -> None:
        """A run has begun, or goes on."""
        self._runs[name] = _Run()

    def progress(self, name: str, progress: Progress) -> None:
        """A run is as far as this."""
        run = self._runs[name]
        run.progress = progress
        if 0 < progress.done < progress.total:
            run.whole = progress.seconds_left * progress.total / (progress.total - progress.done)

    def epoch(self, name: str, value: float) -> None:
        """A run has ended an epoch with this value."""
        run = self._runs[name]
        run.best = value if run.best is None else max(value, run.best)

    def left(self, name: str) -> None:
        """A run goes on no more."""
        del self._runs[name]

    def starts_again(self, name: str, reason: str, which: str) -> None:
        """A run broke off though nobody here stopped it; `which` restart of how many it is."""
        self._report.warn(f"{name} broke off: {reason}; it goes on from its last checkpoint, restart {which}")

    def finished(self, name: str, result: Result, trial: Trial) -> None:
        """A run of a trial has come to its end."""
        self._trials[trial.number] = trial
        self._results.append(result)
        self._report.say(f"{name}: {percent(result.value)}, epoch {result.epoch}")

    def ended(self, trial: Trial) -> None:
        """A trial is done."""
        self._trials[trial.number] = trial
        if trial.mean is not None:
            seeds = ", ".join(percent(result.value) for result in trial.results.values())
            best = " (best so far)" if self._best() is trial else ""
            self._report.say(f"trial {trial.number}: {percent(trial.mean)} on average of {seeds}{best}")
        elif trial.state == "failed":
            self._report.warn(f"trial {trial.number} failed: {trial.reason}")
        else:
            self._report.say(f"trial {trial.number}: pruned")

    def check_failed(self, trial: Trial) -> None:
        """One of the best could not be trained with the third seed."""
        self._trials[trial.number] = trial
        self._report.warn(f"trial {trial.number} failed with the third seed: {trial.third}")

    def stopping(self) -> None:
        """Somebody pressed Ctrl-C."""
        self._report.say("stopping at the next checkpoint of each run; Ctrl-C again stops at once")

    def refresh(self) -> None:
        """Show how far everything is."""
        if self._is_live:
            runs = [Text(f"  {name}: {self._status(run)}") for name, run in self._runs.items()]
            self._live.update(Group(Text(self._summary()), *runs), refresh=True)
        elif time.monotonic() - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self._report.say(self._summary())

    def _best(self) -> Trial | None:
        complete = [trial for trial in self._trials.values() if trial.mean is not None]
        return max(complete, key=lambda trial: trial.mean or 0.0, default=None)

    def _summary(self) -> str:
        done = sum(trial.state != "running" for trial in self._trials.values())
        best, left = self._best(), self._seconds_left()
        parts = [f"{done} of {self._plan.trials + 1} trials done"]
        if best is not None and best.mean is not None:
            parts.append(f"best {percent(best.mean)} (trial {best.number})")
        if left is not None:
            parts.append(f"about {clock(left)} left")
        return ", ".join(parts)

    def _status(self, run: _Run) -> str:
        if run.progress is None:
            return "starting"
        epochs, done = self._plan.config.training.epochs, run.progress.done / run.progress.total
        parts = [f"epoch {min(int(done * epochs) + 1, epochs)} of {epochs}"]
        if run.best is not None:
            parts.append(f"best {percent(run.best)}")
        return ", ".join([*parts, f"{clock(run.progress.seconds_left)} left"])

    def _seconds_left(self) -> float | None:
        """As long as the runs that are left take if they are like those so far."""
        under_way = [run.progress for run in self._runs.values() if run.progress is not None]
        guesses = [run.whole for run in self._runs.values() if run.whole is not None]
        known = [result.seconds for result in self._results] or guesses
        if not known:
            return None
        each = fmean(known)
        seeds = len(self._plan.seeds)
        runs = seeds * (self._plan.trials + 1 - len(self._trials))
        runs += sum(seeds - len(trial.results) for trial in self._trials.values() if trial.state == "running")
        runs += FINALISTS + 1 - sum(trial.third is not None for trial in self._trials.values())
        waiting = max(runs - len(under_way), 0)
        return (each * waiting + sum(part.seconds_left for part in under_way)) / self._slots


def parameters(values: Mapping[str, Value]) -> str:
    """A trial's values, shortly."""
    return ", ".join(f"{key.rsplit('.', 1)[-1]} {short(value)}" for key, value in values.items())


def short(value: Value) -> str:
    """A value in few digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def percent(value: float) -> str:
    """A share or score, as the tables have them."""
    return f"{100 * value:.1f} %"


def _unchanged(trial: Trial) -> str:
    return "unchanged, " if trial.unchanged else ""
