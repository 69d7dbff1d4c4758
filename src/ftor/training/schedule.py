"""Learning rates of the span scorer, of a pretrained reader and of all others, and how they change."""

import re
from typing import Any

from torch import nn
from torch.optim import Optimizer

from ftor.config import TrainingConfig

_MEMBER = re.compile(r"^members\.\d+\.")
"""Begins the names of the parameters of networks with members."""


def parameter_groups(network: nn.Module, settings: TrainingConfig) -> list[dict[str, Any]]:
    """The parameters that are trained, each group with its learning rate. The first has all others."""
    rate = settings.scorer_learning_rate
    prefixes = {
        ("reordering.hidden.", "reordering.output."): settings.learning_rate if rate is None else rate,
        ("reader.",): settings.reader_learning_rate,
    }
    groups = {(): _group(settings.learning_rate)} | {names: _group(own) for names, own in prefixes.items()}
    for name, parameter in network.named_parameters():
        in_member = _MEMBER.sub("", name)
        own = next((names for names in prefixes if in_member.startswith(names)), ())
        if parameter.requires_grad:
            groups[own]["params"].append(parameter)
    return [group for names, group in groups.items() if group["params"] or not names]


def _group(rate: float) -> dict[str, Any]:
    return {"params": [], "full_lr": rate, "lr": rate}


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
