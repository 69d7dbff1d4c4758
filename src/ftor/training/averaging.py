"""A running mean of weights, which is better than the weights themselves where data are few."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """An exponential moving average of the parameters of `network`.

    Args:
        network: whose parameters change.
        steps: how many steps the mean reaches back to, at first all so far; 1 or less is no averaging.
    """

    def __init__(self, network: nn.Module, steps: float) -> None:
        self._network, self._steps, self._updates = network, steps, 0
        self._means = {name: p.detach().clone() for name, p in network.named_parameters()}

    @torch.no_grad()
    def update(self) -> None:
        """Take the parameters in as they are now."""
        self._updates += 1
        weight = 1 / max(min(self._steps, self._updates), 1)
        torch._foreach_lerp_(list(self._means.values()), list(self._network.parameters()), weight)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Have the network use the mean."""
        parameters = dict(self._network.named_parameters())
        own = {name: parameter.data for name, parameter in parameters.items()}
        try:
            for name, parameter in parameters.items():
                parameter.data = self._means[name]
            yield
        finally:
            for name, parameter in parameters.items():
                parameter.data = own[name]

    def state(self) -> dict[str, Tensor]:
        """What a checkpoint keeps."""
        return {**self._means, "updates": torch.tensor(self._updates)}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `state` gave."""
        self._updates = int(state["updates"])
        for name, mean in self._means.items():
            mean.copy_(state[name])
