"""Fixtures of the tests of training."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ftor.config import Config
from ftor.reporting import SILENT
from ftor.training.data import load_training_data
from ftor.training.trainer import Trainer
from support import tiny


@pytest.fixture
def trainer(data: Path, tmp_path: Path) -> Callable[..., Trainer]:
    """Make a trainer with some settings. It has not begun."""

    def make(folder: Path = data, **settings: object) -> Trainer:
        overrides = tiny.SETTINGS | {key.replace("__", "."): value for key, value in settings.items()}
        files = {f"data.{split}": str(folder / f"{split}.tsv") for split in ("train", "dev", "test")}
        config = Config.load("transducer", [f"{k}={json.dumps(v)}" for k, v in (files | overrides).items()])
        (tmp_path / "run").mkdir()
        return Trainer(config, load_training_data(config, None, tmp_path, SILENT), tmp_path / "run", SILENT)

    return make


@pytest.fixture
def copy(trained: Path, tmp_path: Path) -> Path:
    """Give a copy of the finished run, to change."""
    return Path(shutil.copytree(trained, tmp_path / "copy"))
