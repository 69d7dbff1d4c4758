"""Training of one experiment from Python."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from ftor.config import Config
from ftor.model.model import Model
from ftor.reporting import Report
from ftor.training.run import Run


def train_experiment(
    config: Config, out: Path | None, data_folder: Path | None, threads: int | None, report: Report
) -> Model:
    """Train a model, evaluate it, and return it. `ftor.train` documents the arguments."""
    run = Run.new(config, out)
    threads_before = torch.get_num_threads()
    try:
        metrics = run.train(data_folder, report, threads=threads)
    finally:
        torch.set_num_threads(threads_before)
    if metrics is None:
        raise KeyboardInterrupt
    return Model.load(run.folder, data_folder=data_folder)


def configure(
    experiment: str | Path | Config,
    files: Mapping[str, str | Path | None],
    seed: int | None,
    overrides: Sequence[str],
    report: Report,
) -> Config:
    """The configuration of an experiment with files of pairs, a seed and overrides.

    Args:
        experiment: the name of a shipped experiment, a TOML file, or a configuration.
        files: for each of train, dev and test a TSV file, or None for that of the experiment.
        seed: None for that of the experiment.
        overrides: `section.key=value`.
        report: receives a warning if own training pairs are tested on the test pairs of the experiment.
    """
    paths = {split: Path(file) for split, file in files.items() if file is not None}
    # A file that does not exist here may exist in a data folder.
    names = {split: str(path.absolute() if path.exists() else path) for split, path in paths.items()}
    values = {f"data.{split}": name for split, name in names.items()} | {"training.seed": seed}
    overrides = [*overrides, *as_overrides(values)]
    if isinstance(experiment, Config):
        config = experiment.with_overrides(overrides)
    else:
        config = Config.load(experiment, overrides)
    if "train" in paths and "test" not in paths and config.data.test is not None:
        report.warn(f"no test file is given: the model is tested on {config.data.test} of {config.name}")
    return config


def grammar_override(grammar: str | Path | None) -> list[str]:
    """The setting of the grammar that a user names, if any. A file is named by its full path."""
    if grammar is not None and Path(grammar).is_file():
        grammar = Path(grammar).absolute()
    return as_overrides({"decoding.grammar": grammar})


def as_overrides(values: Mapping[str, Any]) -> list[str]:
    """Values of configuration keys as `key=value`. None is left out."""
    texts = {key: str(value) if isinstance(value, Path) else value for key, value in values.items()}
    return [
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in texts.items() if value is not None
    ]
