"""Tensors and a description of them in one safetensors file. Nothing is pickled."""

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
    # Not save_file: it leaves a temporary file behind if it is killed, and only the owner can read its file.
    write_atomically(path, lambda unfinished: unfinished.write_bytes(save(contiguous, metadata)))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read the tensors and the description that `save_tensors` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            description = json.loads((file.metadata() or {}).get("ftor", "{}"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (
        SafetensorError,
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # RuntimeError if the file is deleted meanwhile
        raise CheckpointError(f"{path}: damaged file: {error}") from None
    return tensors, description
