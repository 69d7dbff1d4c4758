"""Where a result comes from: version, commit and machine."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ftor._version import __version__


def machine() -> dict[str, Any]:
    """Which version, on what, and the most memory that this process has had."""
    import resource  # which Windows lacks

    import torch

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "version": __version__,
        "peak_memory_mb": round(peak / (1e6 if sys.platform == "darwin" else 1e3)),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} used, "
        f"torch {torch.__version__}",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def commit() -> str | None:
    """The commit of the source tree that this package runs from, if it is one; with "+" if changed since."""
    here = Path(__file__).parent
    if not (here.parents[1] / ".git").exists():
        return None
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, check=True
        )
        changed = subprocess.run(
            ["git", "diff", "--quiet", "HEAD", "--", "."], cwd=here, check=False
        ).returncode
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.decode().strip() + "+" * bool(changed)
