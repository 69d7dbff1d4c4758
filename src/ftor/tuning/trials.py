"""Trials, their results, and how the paper chooses the best one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from ftor.config import Config
from ftor.datasets import judges
from ftor.tuning.space import Value

TrialState = Literal["running", "complete", "pruned", "failed"]
FINALISTS = 2
Epochs = Mapping[int, Mapping[str, Any]]
"""Log records of a run by epoch, counted from 1."""


@dataclass(frozen=True)
class Result:
    """The dev result of a run at its best epoch: the objective, and the loss that breaks ties."""

    value: float
    loss: float
    epoch: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """A configuration and the results of its runs.

    Attributes:
        values: by key of the space.
        results: by seed.
        unchanged: whether it is the experiment's own configuration.
        reason: why it failed.
        third: the result with the third seed, the reason why that run failed, or None if there was none.
    """

    number: int
    values: Mapping[str, Value]
    results: Mapping[int, Result]
    state: TrialState = "complete"
    unchanged: bool = False
    reason: str | None = None
    third: Result | str | None = None

    @property
    def settings(self) -> str:
        """The values in a few words."""
        texts = [f"{key.rsplit('.', 1)[-1]} {short(value)}" for key, value in self.values.items()]
        return ", ".join(["unchanged"] * self.unchanged + texts)

    @property
    def mean(self) -> float | None:
        """Mean over the two seeds, if the trial is complete."""
        return fmean(result.value for result in self.results.values()) if self.state == "complete" else None

    @property
    def checked(self) -> float | None:
        """The value with the third seed."""
        return self.third.value if isinstance(self.third, Result) else None

    def mean_with(self, third: bool) -> float:
        """Return the mean over two seeds, or over all three."""
        results = [
            *self.results.values(),
            *([self.third] if third and isinstance(self.third, Result) else []),
        ]
        return fmean(result.value for result in results)


def by_mean(trial: Trial) -> tuple[float, float]:
    """Return what trials are compared by: the mean, then the lower mean loss."""
    return trial.mean_with(third=False), -fmean(result.loss for result in trial.results.values())


def finalists(trials: Sequence[Trial]) -> list[Trial]:
    """Return the best trials that were drawn, best first. Of equal ones, the first."""
    drawn = [trial for trial in trials if trial.state == "complete" and not trial.unchanged]
    return sorted(drawn, key=by_mean, reverse=True)[:FINALISTS]


def to_check(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that are run with the third seed: the finalists and the unchanged one."""
    unchanged = [trial for trial in trials if trial.state == "complete" and trial.unchanged]
    return finalists(trials) + unchanged


def winner(trials: Sequence[Trial]) -> Trial | None:
    """Return the finalist that is best with the third seed, or the unchanged trial if its mean is as good.

    Returns None if no trial is complete.
    """
    best = max(
        finalists(trials),
        key=lambda trial: (-1.0 if trial.checked is None else trial.checked, by_mean(trial)),
        default=None,
    )
    unchanged = next((trial for trial in trials if trial.state == "complete" and trial.unchanged), None)
    if best is None or unchanged is None:
        return best or unchanged
    third = best.checked is not None and unchanged.checked is not None
    return unchanged if unchanged.mean_with(third) >= best.mean_with(third) else best


def objective_key(config: Config, data_folder: Path | None) -> str:
    """Return the key of the objective in a run's log."""
    metric: str = config.training.select_by
    if metric == "accuracy":
        metric = next((judge.name for judge in judges(config.data.task, data_folder)), "exact_match")
    return "dev_exact_match" if metric == "loss" else f"dev_{metric}"


def result_of(record: Mapping[str, Any], epochs: Epochs, objective: str) -> Result:
    """Return the result of a finished run from its ledger line and its epochs."""
    epoch = record["best_epoch"]
    best = epochs[epoch]
    seconds = record["seconds"] + record["dev_seconds"]
    return Result(float(best[objective]), float(best["dev_loss"]), epoch, seconds)


def short(value: Value) -> str:
    """Format a value with three digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
