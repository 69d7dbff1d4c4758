"""Tensors with a description in one safetensors file. Nothing is pickled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ftor.errors import FtorError
from ftor.files import write_atomically


class CheckpointError(FtorError):
    """A model or checkpoint that is missing or damaged."""


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
