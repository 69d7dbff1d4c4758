from collections.abc import Callable
from pathlib import Path

import pytest

from support.tiny import Finished, run_here, set_arguments


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finished]:
    """Train on files of one's own, in a folder of one's own; no other data can be seen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def train(*arguments: object, **settings: object) -> Finished:
        return run_here("train", "transducer", *arguments, *set_arguments({"training.epochs": 1} | settings))

    return train
