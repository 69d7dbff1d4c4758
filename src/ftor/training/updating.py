"""Gradients, and the update of the weights by them: through accelerate only where it has something to do."""

import math

import torch
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer
from accelerate.utils import DistributedType
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_


class Updates:
    """Updates the weights of a network.

    For each step, accelerate looks for packages on the disk and for kinds of training that this one is not. A
    step of a small network takes an eighth less time without it. The results are the same to the bit.

    Args:
        accelerator: the processes that train together, and their precision.
        network: as `accelerator.prepare` gives it.
        optimizer: the same.
        clip_norm: the largest norm of the gradient; None for any.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        network: nn.Module,
        optimizer: AcceleratedOptimizer,
        clip_norm: float | None,
    ) -> None:
        self._accelerator, self._optimizer, self._clip_norm = accelerator, optimizer, clip_norm or math.inf
        self._parameters = list(network.parameters())
        scaler = getattr(accelerator, "scaler", None)
        self._alone = accelerator.distributed_type == DistributedType.NO and scaler is None

    def seed(self, seed: int) -> None:
        """Seed the random numbers of a step."""
        if self._accelerator.device.type == "cpu":
            torch.default_generator.manual_seed(seed)  # torch.manual_seed keeps a list of all calls for GPUs
        else:
            torch.manual_seed(seed)

    def total(self, sums: Tensor) -> list[float]:
        """The sums of numbers over all processes."""
        all_sums: list[float] = (sums if self._alone else self._accelerator.reduce(sums)).tolist()
        return all_sums

    def gradients(self, loss: Tensor) -> Tensor:
        """Compute the gradients of a loss and clip them. Returns their norm before."""
        if not self._alone:
            self._optimizer.zero_grad()
            self._accelerator.backward(loss)
            norm: Tensor = self._accelerator.clip_grad_norm_(self._parameters, self._clip_norm)
            return norm
        for parameter in self._parameters:
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        return clip_grad_norm_(self._parameters, self._clip_norm)

    def step(self) -> None:
        """Change the weights."""
        (self._optimizer.optimizer if self._alone else self._optimizer).step()
