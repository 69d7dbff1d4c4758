"""Learning rates: one for the span scorer, one for all else, and how they change from step to step."""

from typing import Any

from torch import nn
from torch.optim import Optimizer

from ftor.config import TrainingConfig


def parameter_groups(network: nn.Module, settings: TrainingConfig) -> list[dict[str, Any]]:
    """The span scorer's parameters with their own learning rate, all others."""
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
    """Put the learning rates of a step in place; they depend on nothing but its number."""
    factor = scheduled(settings, step, steps_per_epoch)
    for group in optimizer.param_groups:
        group["lr"] = factor * group["full_lr"]


def scheduled(settings: TrainingConfig, step: int, steps_per_epoch: int) -> float:
    """The factor of all learning rates at a step, counted from 0 over all epochs."""
    if step < settings.warmup_steps:
        return step / settings.warmup_steps
    if settings.schedule == "constant":
        return 1.0
    total = settings.epochs * steps_per_epoch
    return (total - step) / (total - settings.warmup_steps)
