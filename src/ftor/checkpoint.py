"""Files that are whole or not there: tensors with their description, and text. Nothing is pickled."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ftor.errors import FtorError


class CheckpointError(FtorError):
    """A model or checkpoint that is missing or damaged."""


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Have `write` fill a file beside `path`, and put it in place when it is safely on the disk.

    If anything fails, a full disk say, what was at `path` stays as it was.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(unfinished)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    finally:
        unfinished.unlink(missing_ok=True)


def clear_unfinished(folder: Path) -> None:
    """Remove what writers that were killed have left in `folder`."""
    for path in folder.glob(".*.[0-9]*"):
        path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace a text file as a whole."""
    write_atomically(path, lambda unfinished: unfinished.write_text(text, "utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file as a whole."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def save_tensors(path: Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
    """Write tensors and a JSON-like description of them into one safetensors file."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    metadata = {"ftor": json.dumps(description)}
    # Not save_file: it writes to a file of its own that a kill leaves behind, and that only we may read.
    write_atomically(path, lambda unfinished: unfinished.write_bytes(save(contiguous, metadata)))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the description that `save_tensors` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            description = json.loads((file.metadata() or {}).get("ftor", "{}"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: expected a model or checkpoint, found no file") from None
    except (SafetensorError, OSError, ValueError, RuntimeError) as error:  # the last if it vanishes meanwhile
        raise CheckpointError(
            f"{path}: expected a model or checkpoint, found a damaged file: {error}"
        ) from None
    return tensors, description


class Checkpoints:
    """The last two checkpoints of a run, so that a damaged one costs minutes and not the run."""

    def __init__(self, folder: Path) -> None:
        self.incoming = folder / "checkpoint.incoming.safetensors"
        self.newest = folder / "checkpoint.safetensors"
        self.previous = folder / "checkpoint.previous.safetensors"

    def save(self, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
        """Write a new checkpoint; the newest so far becomes the previous one."""
        save_tensors(self.incoming, tensors, description)  # whole before the others move
        if self.newest.exists():
            self.newest.replace(self.previous)
        self.incoming.replace(self.newest)

    def load(self, warn: Callable[[str], object]) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The newest whole checkpoint, or None if there has been none."""
        found = [path for path in (self.incoming, self.newest, self.previous) if path.exists()]
        for path in found:
            try:
                loaded = load_tensors(path)
            except CheckpointError as error:
                warn(f"{error}; trying the one before")
                continue
            if path == self.incoming:  # its writer was killed between two renames
                path.replace(self.newest)
            return loaded
        if found:
            raise CheckpointError(f"{self.newest}: expected a whole checkpoint, found only damaged ones")
        return None
