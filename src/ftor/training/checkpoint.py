"""The checkpoints of a run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from ftor.model.tensors import CheckpointError, load_tensors, save_tensors


class Checkpoints:
    """The last two checkpoints of a run. If the newest is damaged, the one before is used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.incoming = folder / "checkpoint.incoming.safetensors"
        self.newest = folder / "checkpoint.safetensors"
        self.previous = folder / "checkpoint.previous.safetensors"

    def save(self, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
        """Write a new checkpoint and keep the one before."""
        save_tensors(self.incoming, tensors, description)  # complete before the others are renamed
        if self.newest.exists():
            self.newest.replace(self.previous)
        self.incoming.replace(self.newest)

    def load(self, warn: Callable[[str], object]) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Read the newest undamaged checkpoint. Returns None if there is none at all."""
        paths = [path for path in (self.incoming, self.newest, self.previous) if path.exists()]
        for path in paths:
            try:
                loaded = load_tensors(path)
            except CheckpointError as error:
                warn(f"{error}; the one before is used")
                continue
            if path == self.incoming:  # the process was killed between two renames
                path.replace(self.newest)
            return loaded
        if paths:
            raise CheckpointError(f"{self.newest}: all checkpoints are damaged")
        return None
