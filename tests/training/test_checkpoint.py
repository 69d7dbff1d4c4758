"""The checkpoints of a run."""

import errno
import os
import re
from pathlib import Path

import pytest
import torch

from ftor.model.tensors import CheckpointError, load_tensors
from ftor.training.checkpoint import Checkpoints
from support.tiny import assert_same_run, end, run_here, start, train_arguments

TENSORS = {"weight": torch.arange(6.0).view(2, 3), "step": torch.tensor(3, dtype=torch.int64)}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestCheckpoints:
    @pytest.fixture
    def checkpoints(self, tmp_path):
        """Give checkpoints of epochs 1 and 2."""
        made = Checkpoints(tmp_path)
        made.save(TENSORS, {"epoch": 1})
        made.save(TENSORS, {"epoch": 2})
        return made

    def test_there_may_be_none(self, tmp_path):
        assert Checkpoints(tmp_path).load(pytest.fail) is None

    def test_the_newest_is_loaded_and_the_one_before_kept(self, checkpoints, tmp_path):
        assert checkpoints.load(pytest.fail)[1] == {"epoch": 2}
        assert load_tensors(checkpoints.previous)[1] == {"epoch": 1}
        assert names(tmp_path) == ["checkpoint.previous.safetensors", "checkpoint.safetensors"]

    def test_a_full_disk_keeps_both(self, checkpoints, tmp_path, monkeypatch):
        monkeypatch.setattr(
            Path, "write_bytes", lambda self, content: fill(self, content[: len(content) // 2])
        )

        def fill(path, content):
            with path.open("wb") as file:
                file.write(content)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        with pytest.raises(OSError, match="No space left"):
            checkpoints.save(TENSORS, {"epoch": 3})
        assert checkpoints.load(pytest.fail)[1] == {"epoch": 2}
        assert load_tensors(checkpoints.previous)[1] == {"epoch": 1}
        assert names(tmp_path) == ["checkpoint.previous.safetensors", "checkpoint.safetensors"]

    def test_a_torn_one_gives_way_to_the_one_before(self, checkpoints):
        checkpoints.newest.write_bytes(checkpoints.newest.read_bytes()[:-1])
        warnings = []
        assert checkpoints.load(warnings.append)[1] == {"epoch": 1}
        (warning,) = warnings
        assert re.search(r"checkpoint.safetensors: .*damaged file.*; the one before is used", warning)

    def test_one_that_was_moved_away_when_the_power_went_is_found(self, checkpoints):
        checkpoints.newest.replace(checkpoints.previous)
        assert checkpoints.load(pytest.fail)[1] == {"epoch": 2}

    def test_two_torn_ones_are_an_error(self, checkpoints):
        for path in (checkpoints.newest, checkpoints.previous):
            path.write_bytes(b"")
        with pytest.raises(CheckpointError, match=r"all checkpoints are damaged"):
            checkpoints.load(lambda warning: None)


@pytest.mark.slow
def test_a_run_that_fills_the_disk_can_be_resumed_later(data, tmp_path, trained):
    """There is room for the weights, but not for a checkpoint, which has the optimiser's state too."""
    resource = pytest.importorskip("resource")  # not on Windows
    sizes = [(trained / f"{name}.safetensors").stat().st_size for name in ("model", "checkpoint")]
    limit = sum(sizes) // 2
    folder = tmp_path / "run"
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))}
    finished = end(start(*train_arguments(data, folder), **limited))
    assert (finished.code, finished.out) == (1, "")
    assert re.search(r"^error: .*File too large", finished.err, re.M)
    assert "Traceback" not in finished.err
    assert names(folder) == ["config.toml", "model.safetensors", "vocab.json"]
    assert run_here("train", "--resume", folder).code == 0
    assert_same_run(folder, trained)
