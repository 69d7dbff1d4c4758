"""Where a run is: everything that a checkpoint holds beside tensors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ftor.networks import Losses
from ftor.reporting import percent


def _zeros() -> list[float]:
    return [0.0] * len(Losses._fields)


@dataclass
class RunState:
    """The state of a run.

    Attributes:
        epoch, step: the next batch to train on, counted from 0.
        sums: the sums of the loss terms over the examples of this epoch.
        history: one record per finished epoch.
        best_epoch: the epoch whose weights are kept, counted from 1.
        best: the selection key of that epoch. Greater is better.
        seconds: time spent on training.
        dev_seconds: time spent on evaluation on dev.
        threads: the number of CPU threads. It decides the order of sums. Older checkpoints lack it.
    """

    epoch: int = 0
    step: int = 0
    sums: list[float] = field(default_factory=_zeros)
    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int | None = None
    best: list[float] = field(default_factory=list)
    seconds: float = 0.0
    dev_seconds: float = 0.0
    threads: int | None = None

    def add_losses(self, losses: list[float]) -> None:
        """Add the summed loss terms of one batch, and move on to the next batch."""
        self.sums = [before + new for before, new in zip(self.sums, losses, strict=True)]
        self.step += 1

    def mean_losses(self, examples: int) -> dict[str, float]:
        """The mean loss terms of this epoch, which has so many examples."""
        return {name: total / examples for name, total in zip(Losses._fields, self.sums, strict=True)}

    def add_record(self, record: Mapping[str, Any], key: list[float]) -> bool:
        """Add the record of this epoch to the history. Returns whether it is the best epoch so far."""
        self.history.append(dict(record))
        is_best = self.best_epoch is None or key > self.best
        if is_best:
            self.best_epoch, self.best = self.epoch + 1, key
        return is_best

    def shown(self, losses: Sequence[float], examples: int) -> str:
        """The text of the progress bar after a batch of so many examples."""
        terms = zip(Losses._fields, losses, strict=True)
        shown = [
            f"{name} {max(value / examples, 0):.3f}" for name, value in terms if name == "tokens" or value
        ]
        dev = [f"dev {percent(self.history[-1]['dev_exact_match'])}"] if self.history else []
        return " ".join([f"epoch {self.epoch + 1}", *shown, *dev])

    def start_next_epoch(self) -> None:
        """Move on to the first batch of the next epoch."""
        self.epoch, self.step, self.sums = self.epoch + 1, 0, _zeros()
