"""The checkpoints of a run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from ftor.model.tensors import CheckpointError, load_tensors, save_tensors


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
