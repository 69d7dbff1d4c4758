"""All that a run has to remember to go on exactly, as a checkpoint keeps it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from ftor.networks import Losses
from ftor.text.reading import Pair


@dataclass
class State:
    """Where a run is: all that a checkpoint holds beside tensors.

    Attributes:
        epoch, step: the next batch to train on.
        sums: the loss terms of the epoch's examples so far.
        history: one record per finished epoch.
        best_epoch, best: the epoch whose weights are kept, and what it is compared by, greater is better.
        seconds: time spent training so far.
        dev_seconds: time spent evaluating on dev so far.
    """

    epoch: int = 0
    step: int = 0
    sums: list[float] = field(default_factory=lambda: [0.0] * len(Losses._fields))
    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int | None = None
    best: list[float] = field(default_factory=list)
    seconds: float = 0.0
    dev_seconds: float = 0.0


class Optimizer(Protocol):
    """What is needed of an optimiser, or of what accelerate makes of one."""

    def state_dict(self) -> dict[str, Any]:
        """Give everything that steps depend on."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put it back."""
        ...


def to_tensors(network: nn.Module, optimizer: Optimizer, average: AveragedModel | None) -> dict[str, Tensor]:
    """The tensors of a run under names that tell them apart."""
    tensors = {f"model.{name}": value for name, value in network.state_dict().items()}
    for number, values in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in values.items()}
    if average is not None:
        tensors |= {f"average.{name}": mean for name, mean in average.module.named_parameters()}
        tensors["average.updates"] = average.n_averaged
    return tensors


def from_tensors(
    tensors: dict[str, Tensor], network: nn.Module, optimizer: Optimizer, average: AveragedModel | None
) -> None:
    """Put back what `to_tensors` gave."""
    network.load_state_dict(_below("model.", tensors))
    saved: dict[int, dict[str, Tensor]] = {}
    for name, value in _below("optimizer.", tensors).items():
        number, key = name.split(".")
        saved.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": saved})
    if average is not None:
        means = _below("average.", tensors)
        average.n_averaged.copy_(means["updates"])
        with torch.no_grad():
            for name, mean in average.module.named_parameters():
                mean.copy_(means[name])


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with `prefix`, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def fingerprint(pairs: Sequence[Pair]) -> str:
    """Sixteen digits that change with the pairs."""
    words = [() if pair.emphasis is None else (pair.emphasis,) for pair in pairs]
    text = json.dumps([(p.source, p.target, *word) for p, word in zip(pairs, words, strict=True)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
