"""The devices, precision and trackers of a run, from accelerate."""

from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs

from ftor.config import Config, ConfigError


def accelerator_of(config: Config, folder: Path) -> Accelerator:
    """The devices, the precision and the trackers of a run in a folder."""
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
