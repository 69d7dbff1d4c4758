"""Saves everything that a run needs to continue exactly, and restores it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel

from ftor.model.model import Model
from ftor.model.tensors import CheckpointError
from ftor.text.reading import Pair
from ftor.training.checkpoint import Checkpoints
from ftor.training.state import RunState


class Stateful(Protocol):
    """An optimizer or a gradient scaler, also as accelerate wraps it."""

    def state_dict(self) -> dict[str, Any]:
        """The state."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state."""
        ...


@dataclass(frozen=True)
class Snapshots:
    """Snapshots of a run in its checkpoints.

    Attributes:
        checkpoints: the files.
        model: the model that is trained.
        optimizer: the optimizer of its network.
        average: the averaged weights of its network, if any.
        scaler: the gradient scaler of fp16 training, if any.
        fingerprint: of the training and dev pairs.
    """

    checkpoints: Checkpoints
    model: Model
    optimizer: Stateful
    average: AveragedModel | None
    scaler: Stateful | None
    fingerprint: str

    def save(self, state: RunState) -> None:
        """Write a checkpoint."""
        tensors = {f"model.{name}": value for name, value in self.model.network.state_dict().items()}
        for number, values in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in values.items()}
        if self.average is not None:
            tensors |= {f"average.{name}": mean for name, mean in self.average.module.named_parameters()}
            tensors["average.updates"] = self.average.n_averaged
        scaler = self.scaler.state_dict() if self.scaler is not None else {}
        self.checkpoints.save(tensors, asdict(state) | {"data": self.fingerprint, "scaler": scaler})

    def restore(self, warn: Callable[[str], object]) -> RunState | None:
        """Restore the newest checkpoint. Returns None if there is none."""
        checkpoint = self.checkpoints.load(warn)
        if checkpoint is None:
            return None
        tensors, description = checkpoint
        if description.pop("data") != self.fingerprint:
            raise CheckpointError(
                f"{self.checkpoints.folder}: the training or dev pairs are not those that the run began with"
            )
        self.model.check_description(self.checkpoints.folder)
        scaler = description.pop("scaler")
        if scaler and self.scaler is not None:
            self.scaler.load_state_dict(scaler)
        self._load(tensors)
        return RunState(**description)

    def _load(self, tensors: dict[str, Tensor]) -> None:
        self.model.network.load_state_dict(_below("model.", tensors))
        optimizer: dict[int, dict[str, Tensor]] = {}
        for name, value in _below("optimizer.", tensors).items():
            number, key = name.split(".")
            optimizer.setdefault(int(number), {})[key] = value
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": optimizer})
        if self.average is not None:
            means = _below("average.", tensors)
            self.average.n_averaged.copy_(means["updates"])
            with torch.no_grad():
                for name, mean in self.average.module.named_parameters():
                    mean.copy_(means[name])


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with `prefix`, without the prefix."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def fingerprint(pairs: Sequence[Pair]) -> str:
    """Sixteen hexadecimal digits that change with the pairs."""
    emphasis = [() if pair.emphasis is None else (pair.emphasis,) for pair in pairs]
    text = json.dumps([(p.source, p.target, *words) for p, words in zip(pairs, emphasis, strict=True)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
