"""Runs so small that they take a second: their data, their settings, and ways to start and compare them."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from accelerate.state import AcceleratorState

from ftor.cli.main import main
from ftor.datasets.mirror import mirror
from ftor.files import read_json_lines
from ftor.model.tensors import load_tensors
from ftor.text.reading import write_pairs

SETTINGS = {
    "model.width": 16,
    "model.fertility_hidden": 8,
    "model.decoder_hidden": 8,
    "model.target_width": 8,
    "model.scorer_hidden": 16,
    "training.epochs": 2,
    "training.batch_size": 8,
}
TIMES = {"seconds", "dev_seconds", "examples_per_second", "finished", "peak_memory_mb", "commit"}
"""What may differ between two runs that are the same."""


def write_data(folder: Path) -> Path:
    """Mirror pairs for training, choosing and testing."""
    write_pairs(mirror(25, range(2, 5), seed=1), folder / "train.tsv")
    write_pairs(mirror(8, range(2, 5), seed=2), folder / "dev.tsv")
    write_pairs(mirror(6, range(4, 7), seed=3), folder / "test.tsv")
    return folder


def write_lines(path: Path, *lines: str | bytes) -> Path:
    """Write a file of these lines and return its path."""
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines))
    return path


def train_arguments(data: Path, out: Path, settings: dict[str, object] | None = None) -> list[str]:
    """What to give to `ftor` for a run on `data`."""
    files = [
        part for split in ("train", "dev", "test") for part in (f"--{split}", str(data / f"{split}.tsv"))
    ]
    return [
        "train",
        "transducer",
        *files,
        "--out",
        str(out),
        "--threads",
        "1",
        *set_arguments(settings or {}),
    ]


def set_arguments(settings: dict[str, object]) -> list[str]:
    """The tiny settings and these, as `--set` options."""
    sizes = SETTINGS
    if "model.architecture" in settings:  # the sizes are those of a transducer
        sizes = {key: value for key, value in SETTINGS.items() if not key.startswith("model.")}
    values = sizes | settings
    return [part for key, value in values.items() for part in ("--set", f"{key}={json.dumps(value)}")]


@dataclass(frozen=True)
class Finished:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


def run_here(*arguments: object, stdin: bytes = b"") -> Finished:
    """Run `ftor` in this process."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")),
    ):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
    return Finished(code, out.getvalue(), err.getvalue())


def environment() -> dict[str, str]:
    """That of a process that runs `python -m ftor` from this source tree."""
    paths = [str(Path(__file__).parents[2] / "src"), str(Path(__file__).parents[1])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }


def start(*arguments: object, module: str = "ftor", **options: Any) -> subprocess.Popen[str]:
    """Start `python -m ftor` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **options,
    )


def end(process: subprocess.Popen[str], seconds: float = 120) -> Finished:
    """Wait for it."""
    out, err = process.communicate(timeout=seconds)
    return Finished(process.returncode, out, err)


def log(folder: Path) -> list[dict[str, object]]:
    """The lines of a run's log, without times."""
    return [without_times(record) for record in read_json_lines(folder / "log.jsonl")]


def metrics(folder: Path) -> dict[str, object]:
    """A run's metrics, without times."""
    return without_times(json.loads((folder / "metrics.json").read_text()))


def without_times(record: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in record.items() if key not in TIMES}


def assert_same_run(found: Path, wanted: Path) -> None:
    """The same weights to the bit, the same log and the same metrics; and nothing left lying about."""
    weights, others = (load_tensors(folder / "model.safetensors")[0] for folder in (found, wanted))
    assert weights.keys() == others.keys()
    assert all(weights[name].equal(others[name]) for name in others)
    assert log(found) == log(wanted)
    assert metrics(found) == metrics(wanted)
    assert sorted(path.name for path in found.iterdir()) == sorted(path.name for path in wanted.iterdir())


def assert_half_precision_is_close(train: Callable[..., Path]) -> None:
    """Dev losses with bf16 are near those without, and not the same; `train` gives the folder of a run."""
    losses = []
    for precision in ("bf16", "no"):
        AcceleratorState._reset_state()  # accelerate allows one precision in a process
        folder = train(precision, training__precision=precision)
        losses.append([line["dev_loss"] for line in log(folder)])
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert all(half != full for half, full in zip(*losses, strict=True))
