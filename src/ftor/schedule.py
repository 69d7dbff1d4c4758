"""Learning rates that change from step to step, as functions of the step: there is nothing to remember."""

from ftor.config import TrainingConfig


def scheduled(settings: TrainingConfig, step: int, steps_per_epoch: int) -> float:
    """The factor of all learning rates at a step, counted from 0 over all epochs."""
    if step < settings.warmup_steps:
        return step / settings.warmup_steps
    if settings.schedule == "constant":
        return 1.0
    total = settings.epochs * steps_per_epoch
    return (total - step) / (total - settings.warmup_steps)
