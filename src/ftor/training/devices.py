"""The devices, precision and processes that a run uses."""

from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs

from ftor.config import Config, ConfigError


def accelerator_for(config: Config, folder: Path) -> Accelerator:
    """Return the accelerator of a run in `folder`."""
    settings = config.training
    if settings.precision == "fp16" and not torch.accelerator.is_available():
        raise ConfigError("training.precision: fp16 needs a GPU; bf16 works everywhere")
    unused = DistributedDataParallelKwargs(find_unused_parameters=config.model.may_skip_parameters)
    return Accelerator(
        mixed_precision=settings.precision,
        log_with=settings.trackers or None,
        project_dir=folder,
        kwargs_handlers=[unused],
    )
