"""The mean of the weights over the last steps, which is often better than the last weights."""

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

Tensors = tuple[Tensor, ...] | list[Tensor]


def averaged(network: nn.Module, steps: float) -> AveragedModel:
    """A copy of `network` with an exponential moving average of its parameters.

    Args:
        network: the network that is trained.
        steps: number of steps that the mean reaches back. During the first `steps` updates it is the plain
            mean of all weights so far. 1 or less is no averaging.
    """

    def update(means: Tensors, weights: Tensors, updates: Tensor | int) -> None:
        torch._foreach_lerp_(means, weights, 1 / max(min(steps, int(updates) + 1), 1))

    return AveragedModel(network, multi_avg_fn=update)
