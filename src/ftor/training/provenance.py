"""Where a result comes from: version, commit, machine and word vectors."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from ftor._version import __version__
from ftor.config import Config
from ftor.datasets.glove import find_vectors
from ftor.datasets.published import sha256_of
from ftor.model.model import Model

if sys.platform == "win32":
    import psutil
else:
    import resource  # not on Windows

_PACKAGE = Path(__file__).parents[1]


def machine() -> dict[str, Any]:
    """The version of ftor, the machine, the peak memory of this process, and the time."""
    return {
        "version": __version__,
        "peak_memory_mb": _peak_memory_mb(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} used, "
        f"torch {torch.__version__}",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def pretrained_used(model: Model, data_folder: Path | None) -> dict[str, Any]:
    """The file of vectors and the reader that a new model uses here."""
    config, reader = model.config, model.vocabularies.reader
    if reader is None:
        return vectors_used(config, data_folder)
    read = {
        "name": reader.name,
        "parameters": reader.parameters,
        "trained": model.network.reader_parameters,
        "sha256": reader.sha256,
    }
    return vectors_used(config, data_folder) | {"reader": read}


def trained_parameters(network: torch.nn.Module) -> int:
    """How many parameters of a network are trained, those of a reader included."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)


def vectors_used(config: Config, data_folder: Path | None) -> dict[str, Any]:
    """The file of vectors that an experiment reads here: its name, checksum, and what it is an excerpt of.

    Empty without vectors, or if a run is resumed where the file is not.
    """
    name = config.data.vectors
    path = find_vectors(name, data_folder) if name is not None else None
    if name is None or path is None:
        return {}
    excerpt = {} if path.name == Path(name).name else {"stands_for": name}
    return {"vectors": {"file": path.name, "sha256": sha256_of(path), **excerpt}}


def _peak_memory_mb() -> int:
    if sys.platform == "win32":
        return round(psutil.Process().memory_info().peak_wset / 1e6)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3))  # bytes on macOS, kilobytes on Linux


def commit(package: Path = _PACKAGE) -> str | None:
    """The commit of the source tree that this package runs from, followed by "+" if it was changed since.

    None if the package was installed from elsewhere.
    """
    if not (package.parents[1] / ".git").exists():
        return None
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=package, capture_output=True, check=True
        )
        diff = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "."], cwd=package, check=False)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.decode().strip() + "+" * bool(diff.returncode)
