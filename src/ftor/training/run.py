"""A run: the folder that it lives in, from its first step or from where it was stopped, to its record."""

import ctypes
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from accelerate.tracking import get_available_trackers
from accelerate.utils import broadcast_object_list, parse_flag_from_env

from ftor.config import Config, ConfigError
from ftor.files import append_json_line, write_text
from ftor.model.tensors import CheckpointError
from ftor.reporting import SILENT, Report
from ftor.training.data import load_training_data
from ftor.training.stopping import Interrupted
from ftor.training.trainer import Trainer


@dataclass(frozen=True)
class Run:
    """An experiment and its folder."""

    config: Config
    folder: Path

    @classmethod
    def new(cls, config: Config, folder: Path | None) -> "Run":
        """Begin in a folder that is new or empty: runs/NAME-SEED, or the next free one, if none is given."""
        chosen = [_free_folder(config, folder) if _processes().is_main_process else None]
        broadcast_object_list(chosen)  # the first process may fill it before the others look
        assert chosen[0] is not None
        return cls(config, chosen[0])

    @classmethod
    def stopped(cls, folder: Path, name: str | None, overrides: Sequence[str]) -> "Run":
        """Take up a run again; only the number of epochs and what changes no result may be set anew."""
        if not (folder / "config.toml").is_file():
            raise CheckpointError(f"{folder}: expected a run to go on with, found no config.toml in it")
        before = Config.load(folder / "config.toml")
        config = Config.load(folder / "config.toml", overrides)
        if name is not None and name != before.name:
            raise ConfigError(f"--resume {folder}: expected experiment {before.name}, found {name}")
        free = {"epochs", "checkpoint_minutes", "trackers", "evaluation_batch_size"}
        if before.training.schedule == "linear":
            free.remove("epochs")  # all learning rates depend on it
        for section in ("data", "model", "training", "decoding"):
            old, new = getattr(before, section).model_dump(), getattr(config, section).model_dump()
            changed = [key for key in old if old[key] != new.get(key) and key not in free]
            if changed:
                raise ConfigError(
                    f"--set {section}.{changed[0]}: a run goes on as it began; only "
                    f"{', '.join(sorted(free))} may change"
                )
        return cls(config, folder)

    @property
    def speaks(self) -> bool:
        """Whether this is the process, of several that train together, that shows and records results."""
        return bool(_processes().is_main_process)

    def train(self, data_folder: Path | None, report: Report, ledger: Path | None) -> dict[str, Any] | None:
        """Train to the end and return the metrics, or None if somebody stopped it."""
        _keep_freed_memory()
        _check_trackers(self.config)
        report = report if self.speaks else SILENT
        with _processes().main_process_first():  # which generates data, if there is none, for all
            splits = load_training_data(self.config, data_folder, self.folder, report)
        trainer = Trainer(self.config, splits, self.folder, report)  # or an error, with nothing written
        self.folder.mkdir(parents=True, exist_ok=True)
        report.say(f"run: {self.folder}")
        if self.speaks and not (self.folder / "config.toml").exists():
            write_text(self.folder / "config.toml", self.config.to_toml())  # from now on it can be resumed
        try:
            metrics = trainer.run()
        except Interrupted:
            report.say(f"stopped; to go on: {self._resume_command(data_folder, ledger)}")
            return None
        report.say(f"model in {self.folder}")
        if ledger is not None and self.speaks:
            append_json_line(ledger, {"config": self.config.hash, **metrics})
        return metrics

    def _resume_command(self, data_folder: Path | None, ledger: Path | None) -> str:
        """What goes on exactly: the number of threads decides the order of sums."""
        threads = torch.get_num_threads()
        options = {
            "--data-dir": data_folder,
            "--threads": None if threads == 1 else threads,
            "--ledger": ledger,
        }
        given = [part for name, value in options.items() if value is not None for part in (name, str(value))]
        return shlex.join(["ftor", "train", "--resume", str(self.folder), *given])


def _processes() -> PartialState:
    """The processes that train together, as torchrun or accelerate launch has started them, or this alone."""
    # By itself accelerate takes processes on a machine without accelerators for strangers.
    return PartialState(cpu=parse_flag_from_env("ACCELERATE_USE_CPU") or not torch.accelerator.is_available())


def _check_trackers(config: Config) -> None:
    """Refuse trackers that are not installed, which accelerate would pass over in silence."""
    installed = [str(tracker) for tracker in get_available_trackers()]
    for tracker in config.training.trackers:
        if tracker not in installed:
            known = f"one that is installed ({', '.join(installed) or 'none is'})"
            raise ConfigError(f"training.trackers: expected {known}, found {tracker!r}")


def _free_folder(config: Config, folder: Path | None) -> Path:
    if folder is None:
        stem = Path("runs") / f"{config.name}-{config.training.seed}"
        names = (stem if number == 1 else Path(f"{stem}-{number}") for number in range(1, sys.maxsize))
        return next(name for name in names if not name.exists())
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"--out {folder}: expected a new or empty folder; to go on there, use --resume")
    return folder


def _keep_freed_memory() -> None:
    """Tell glibc to keep freed memory: fresh pages for every tensor cost a tenth of a training step."""
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    trim_threshold, top_pad, mmap_threshold = -1, -2, -3  # their numbers in malloc.h
    mallopt(mmap_threshold, 1 << 30)
    mallopt(trim_threshold, (1 << 31) - 1)
    mallopt(top_pad, 64 << 20)
