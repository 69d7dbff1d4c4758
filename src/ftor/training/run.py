"""A run: one training of an experiment, in a folder of its own."""

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
from ftor.files import read_json, read_json_lines, write_text
from ftor.model.folder import CONFIG_FILE, METRICS_FILE
from ftor.model.tensors import CheckpointError
from ftor.reporting import SILENT, Report
from ftor.training.data import load_training_data
from ftor.training.stopping import Interrupted
from ftor.training.trainer import Trainer


@dataclass(frozen=True)
class Run:
    """An experiment and the folder where it is trained."""

    config: Config
    folder: Path

    @classmethod
    def new(cls, config: Config, folder: Path | None) -> "Run":
        """Start a run in a new or empty folder. The default is the next free runs/NAME-SEED."""
        folders = [
            free_folder(config.name, config.training.seed, folder) if _processes().is_main_process else None
        ]
        broadcast_object_list(folders)  # the main process may write to it before the others look
        assert folders[0] is not None
        return cls(config, folders[0])

    @classmethod
    def resume(cls, folder: Path, name: str | None = None, overrides: Sequence[str] = ()) -> "Run":
        """Continue the run in `folder`.

        Args:
            folder: where the run was stopped.
            name: the name of its experiment, to be checked.
            overrides: `section.key=value`. Only the number of epochs and settings that change no result may
                be set.
        """
        if not (folder / CONFIG_FILE).is_file():
            raise CheckpointError(f"{folder}: not a run that can be resumed: it has no config.toml")
        before = Config.load(folder / CONFIG_FILE)
        config = Config.load(folder / CONFIG_FILE, overrides)
        if name is not None and name != before.name:
            raise ConfigError(f"--resume {folder}: this is a run of {before.name}, not of {name}")
        allowed = {"epochs", "checkpoint_minutes", "trackers", "evaluation_batch_size"}
        if before.training.schedule == "linear":
            allowed.remove("epochs")  # all learning rates depend on it
        for section in ("data", "model", "training", "decoding"):
            old, new = getattr(before, section).model_dump(), getattr(config, section).model_dump()
            changed = [key for key in old if old[key] != new.get(key) and key not in allowed]
            if changed:
                raise ConfigError(
                    f"--set {section}.{changed[0]}: a resumed run keeps its settings; only "
                    f"{', '.join(sorted(allowed))} can be changed"
                )
        done = _epochs_done(folder)
        if config.training.epochs < done:
            raise ConfigError(
                f"--set training.epochs={config.training.epochs}: expected at least {done}, which {folder} "
                "has already trained"
            )
        return cls(config, folder)

    @property
    def is_main_process(self) -> bool:
        """Whether this process shows and records the results, if several processes train together."""
        return bool(_processes().is_main_process)

    def train(
        self,
        data_folder: Path | None,
        report: Report,
        again: Sequence[str] = (),
        threads: int | None = None,
    ) -> dict[str, Any] | None:
        """Train to the end.

        Args:
            data_folder: where the files of the experiment are, if not in the usual folders.
            report: receives messages and progress.
            again: options that the command which resumes the run also needs.
            threads: number of CPU threads. None: that of the run that is resumed; for a new one as many of
                torch's threads as train fastest, which is measured.

        Returns:
            The metrics, or None if the run was stopped by Ctrl-C or SIGTERM.
        """
        if (self.folder / METRICS_FILE).exists() and not any(self.folder.glob("checkpoint*.safetensors")):
            return self._finished(report)
        most_threads = torch.get_num_threads()
        torch.set_num_threads(threads or 1)
        _check_trackers(self.config)
        report = report if self.is_main_process else SILENT
        with _processes().main_process_first():  # it generates missing data for all
            data = load_training_data(self.config, data_folder, self.folder, report)
        trainer = Trainer(self.config, data, self.folder, report)  # an error here leaves no files
        self.folder.mkdir(parents=True, exist_ok=True)
        report.say(f"run: {self.folder}")
        if self.is_main_process and not (self.folder / CONFIG_FILE).exists():
            write_text(self.folder / CONFIG_FILE, self.config.to_toml())  # from now on it can be resumed
        try:
            metrics = trainer.run(most_threads if threads is None else None)
        except Interrupted:
            report.say(f"stopped; to resume: {self._resume_command(data_folder, again)}")
            return None
        report.say(f"model in {self.folder}")
        if data.left_out:
            report.warn(f"left out: {', '.join(data.left_out)}")
        return metrics

    def _finished(self, report: Report) -> dict[str, Any]:
        """The metrics of a model that has no checkpoint. Raises if it is to be trained for more epochs."""
        epochs = Config.load(self.folder / CONFIG_FILE).training.epochs
        if self.config.training.epochs != epochs:
            raise CheckpointError(
                f"{self.folder}: the model is finished, and without a checkpoint it cannot be trained on"
            )
        report.say(f"{self.folder}: the model is finished")
        metrics: dict[str, Any] = read_json(self.folder / METRICS_FILE)
        return metrics

    def _resume_command(self, data_folder: Path | None, again: Sequence[str]) -> str:
        """The command that continues this run exactly. The checkpoint has the number of threads."""
        given = [] if data_folder is None else ["--data-dir", str(data_folder)]
        return shlex.join(["ftor", "train", "--resume", str(self.folder), *given, *again])


def _epochs_done(folder: Path) -> int:
    """The epochs that a run has finished."""
    log = folder / "log.jsonl"
    return len(read_json_lines(log)) if log.exists() else 0


def _processes() -> PartialState:
    """The processes that train together, started by torchrun or accelerate launch; else this one."""
    # Without cpu=True, accelerate ignores the other processes on a machine without accelerators.
    return PartialState(cpu=parse_flag_from_env("ACCELERATE_USE_CPU") or not torch.accelerator.is_available())


def _check_trackers(config: Config) -> None:
    """Raise if a tracker is not installed. Accelerate would ignore it silently."""
    installed = [str(tracker) for tracker in get_available_trackers()]
    for tracker in config.training.trackers:
        if tracker not in installed:
            raise ConfigError(
                f"training.trackers: {tracker} is not installed; installed are: "
                f"{', '.join(installed) or 'none'}"
            )


def free_folder(name: str, seed: int, folder: Path | None) -> Path:
    """A new or empty folder: the next free runs/NAME-SEED if the user names none."""
    if folder is None:
        stem = Path("runs") / f"{name}-{seed}"
        names = (stem if number == 1 else Path(f"{stem}-{number}") for number in range(1, sys.maxsize))
        return next(name for name in names if not name.exists())
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"--out {folder}: the folder is not empty; use --resume to continue a run")
    return folder
