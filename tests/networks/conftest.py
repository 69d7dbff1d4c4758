"""Fixtures of the baselines: arguments for their runs, and the folders of finished ones."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support import tiny_pretrained
from support.tiny import run_here

SIZES = {
    "lstm": {"width": 8, "hidden": 6, "decoder_layers": 2, "max_steps": 12},
    "transformer": {"width": 8, "heads": 2, "layers": 1, "hidden": 8, "max_steps": 12, "beam": 5},
    "bart": {"max_steps": 12},
    "pretrained": {"max_steps": 12},
}


@pytest.fixture(scope="session")
def pretrained(data: Path, once: Callable[..., Path]) -> Path:
    """Give the folder of a tiny BART. Read only."""
    pytest.importorskip("transformers")
    lines = (data / "train.tsv").read_text().replace("\t", "\n").splitlines()
    return once("pretrained-bart", lambda folder: tiny_pretrained.write(folder, lines))


@pytest.fixture(scope="session")
def arguments(data: Path, request: pytest.FixtureRequest) -> Callable[..., list[object]]:
    """Give a function that makes the arguments of `ftor` for a run of an architecture."""

    def make(architecture: str, out: Path, **settings: object) -> list[object]:
        model: dict[str, object] = {"architecture": architecture, **SIZES[architecture]}
        if architecture == "bart":
            model["pretrained"] = str(request.getfixturevalue("pretrained"))
        values = {f"model.{key}": value for key, value in model.items()}
        values |= {"training.epochs": 2, "training.batch_size": 8}
        values |= {key.replace("__", "."): value for key, value in settings.items()}
        splits = ("train", "dev", "test")
        files = [part for split in splits for part in (f"--{split}", data / f"{split}.tsv")]
        options = [part for key, value in values.items() for part in ("--set", f"{key}={json.dumps(value)}")]
        return ["train", "transducer", *files, "--out", out, *options]

    return make


@pytest.fixture
def run(arguments: Callable[..., list[object]], tmp_path: Path) -> Callable[..., Path]:
    """Train a baseline with some settings; gives the folder."""

    def train(architecture: str, name: str = "run", **settings: object) -> Path:
        finished = run_here(*arguments(architecture, tmp_path / name, **settings))
        assert finished.code == 0, finished.err
        return tmp_path / name

    return train


@pytest.fixture(scope="session")
def baseline(arguments: Callable[..., list[object]], once: Callable[..., Path]) -> Callable[[str], Path]:
    """Give a function from an architecture to the folder of a finished run. Read only."""

    def folder(architecture: str) -> Path:
        def train(parent: Path) -> None:
            finished = run_here(*arguments(architecture, parent / "run"))
            assert finished.code == 0, finished.err

        return once(f"trained-{architecture}", train) / "run"

    return folder
