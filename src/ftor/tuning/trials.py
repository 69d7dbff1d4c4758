"""What was tried and what came of it, and the paper's choice among it."""

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


@dataclass(frozen=True)
class Result:
    """What one run came to on dev at its best epoch: the objective, and the loss that settles ties."""

    value: float
    loss: float
    epoch: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """A configuration and its runs.

    Attributes:
        values: by key of the space.
        results: by seed.
        unchanged: whether it is the configuration that the others are changes of.
        reason: why it failed.
        third: the check with the third seed, if there was one; in it a text says why it failed.
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
        """Over the two seeds, if both are there."""
        return fmean(result.value for result in self.results.values()) if self.state == "complete" else None

    @property
    def checked(self) -> float | None:
        """The value with the third seed."""
        return self.third.value if isinstance(self.third, Result) else None

    def mean_with(self, third: bool) -> float:
        """Over two seeds, or all three."""
        results = [
            *self.results.values(),
            *([self.third] if third and isinstance(self.third, Result) else []),
        ]
        return fmean(result.value for result in results)


def by_mean(trial: Trial) -> tuple[float, float]:
    """What trials are compared by: the mean; of equal ones, the lower mean loss."""
    return trial.mean_with(third=False), -fmean(result.loss for result in trial.results.values())


def finalists(trials: Sequence[Trial]) -> list[Trial]:
    """The best of those that were drawn, best first; of equal ones, the first."""
    drawn = [trial for trial in trials if trial.state == "complete" and not trial.unchanged]
    return sorted(drawn, key=by_mean, reverse=True)[:FINALISTS]


def to_check(trials: Sequence[Trial]) -> list[Trial]:
    """Those that are trained with the third seed: the finalists, and what they have to be better than."""
    unchanged = [trial for trial in trials if trial.state == "complete" and trial.unchanged]
    return finalists(trials) + unchanged


def winner(trials: Sequence[Trial]) -> Trial | None:
    """The finalist that is best with the third seed, or the unchanged configuration if as good on average.

    None if no trial is complete.
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


def logged_as(config: Config, data_folder: Path | None) -> str:
    """What the objective is called in a run's log."""
    chosen: str = config.training.select_by
    if chosen == "accuracy":
        chosen = next((judge.name for judge in judges(config.data.task, data_folder)), "exact_match")
    return "dev_exact_match" if chosen == "loss" else f"dev_{chosen}"


def result_of(record: Mapping[str, Any], log: Sequence[Mapping[str, Any]], objective: str) -> Result:
    """Return the result of a finished run from its ledger line and its log."""
    epoch = record["best_epoch"]
    best = log[epoch - 1]
    seconds = record["seconds"] + record["dev_seconds"]
    return Result(float(best[objective]), float(best["dev_loss"]), epoch, seconds)


def short(value: Value) -> str:
    """Format a value with three digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def percent(value: float) -> str:
    """Format a share or score as the tables do."""
    return f"{100 * value:.1f} %"
