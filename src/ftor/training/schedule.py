"""Learning rates: one for the span scorer, one for all other parameters, and how they change over steps."""

from typing import Any

from torch import nn
from torch.optim import Optimizer

from ftor.config import TrainingConfig


def parameter_groups(network: nn.Module, settings: TrainingConfig) -> list[dict[str, Any]]:
    """The parameters of the span scorer and all others, each group with its learning rate."""
    scorer = [
        parameter
        for name, parameter in network.named_parameters()
        if name.startswith(("reordering.hidden.", "reordering.output."))
    ]
    of_scorer = {id(parameter) for parameter in scorer}
    others = [parameter for parameter in network.parameters() if id(parameter) not in of_scorer]
    rate = settings.scorer_learning_rate
    groups: list[dict[str, Any]] = [{"params": others, "full_lr": settings.learning_rate}]
    if scorer:
        groups.append({"params": scorer, "full_lr": settings.learning_rate if rate is None else rate})
    return [group | {"lr": group["full_lr"]} for group in groups]


def set_learning_rates(
    optimizer: Optimizer, settings: TrainingConfig, step: int, steps_per_epoch: int
) -> None:
    """Set the learning rates of a step, counted from 0 over all epochs."""
    factor = rate_factor(settings, step, steps_per_epoch)
    for group in optimizer.param_groups:
        group["lr"] = factor * group["full_lr"]


def rate_factor(settings: TrainingConfig, step: int, steps_per_epoch: int) -> float:
    """What all learning rates are multiplied by at a step, counted from 0 over all epochs."""
    if step < settings.warmup_steps:
        return step / settings.warmup_steps
    if settings.schedule == "constant":
        return 1.0
    total = settings.epochs * steps_per_epoch
    return (total - step) / (total - settings.warmup_steps)
