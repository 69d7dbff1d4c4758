"""Files are whole or not there; what was there before survives whatever goes wrong."""

import errno
import os
import re
import resource
import stat
from pathlib import Path

import pytest
import torch

import ftor
from ftor.files import clear_unfinished, write_atomically, write_json, write_text
from ftor.model.tensors import CheckpointError, load_tensors, save_tensors
from ftor.training.checkpoint import Checkpoints
from support.tiny import assert_same_run, end, run_here, start, train_arguments

TENSORS = {"weight": torch.arange(6.0).view(2, 3), "step": torch.tensor(3, dtype=torch.int64)}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fill_the_disk(path):
    """Write a part, as much as there is room for."""
    path.write_bytes(b"half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


class TestWriting:
    def test_replaces_the_whole_file(self, tmp_path):
        write_text(tmp_path / "file", "a long old text")
        write_text(tmp_path / "file", "new")
        assert (tmp_path / "file").read_text() == "new"
        assert names(tmp_path) == ["file"]

    def test_a_full_disk_leaves_the_old_file_and_nothing_else(self, tmp_path):
        write_text(tmp_path / "file", "old")
        with pytest.raises(OSError, match="No space left"):
            write_atomically(tmp_path / "file", fill_the_disk)
        assert (tmp_path / "file").read_text() == "old"
        assert names(tmp_path) == ["file"]

    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
    def test_so_does_any_other_failure(self, tmp_path, error):
        def write(path):
            path.write_text("half")
            raise error

        with pytest.raises(error):
            write_atomically(tmp_path / "file", write)
        assert names(tmp_path) == []

    def test_the_old_file_is_there_until_the_new_one_is_complete(self, tmp_path):
        def write(path):
            path.write_text("new")
            assert (tmp_path / "file").read_text() == "old"

        write_text(tmp_path / "file", "old")
        write_atomically(tmp_path / "file", write)
        assert (tmp_path / "file").read_text() == "new"

    def test_json_keeps_its_letters(self, tmp_path):
        write_json(tmp_path / "file", {"ü": ["→"]})
        assert '"ü"' in (tmp_path / "file").read_text("utf-8")

    def test_tensors_may_be_read_by_whoever_may_read_other_files(self, tmp_path):
        save_tensors(tmp_path / "tensors", TENSORS, {})
        write_text(tmp_path / "text", "")
        modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("tensors", "text")}
        assert len(modes) == 1

    def test_leftovers_are_cleared_and_nothing_else(self, tmp_path):
        for name in (
            ".model.safetensors.123",
            "checkpoint.incoming.safetensors",
            "model.safetensors",
            ".gitignore",
        ):
            (tmp_path / name).touch()
        clear_unfinished(tmp_path)
        kept = [".gitignore", "checkpoint.incoming.safetensors", "model.safetensors"]
        assert names(tmp_path) == kept


class TestTensors:
    def test_come_back_with_their_description(self, tmp_path):
        save_tensors(tmp_path / "file", TENSORS, {"epoch": 3, "best": [0.1], "who": None})
        tensors, description = load_tensors(tmp_path / "file")
        assert {name: tensor.dtype for name, tensor in tensors.items()} == {
            name: tensor.dtype for name, tensor in TENSORS.items()
        }
        assert all(tensors[name].equal(TENSORS[name]) for name in TENSORS)
        assert description == {"epoch": 3, "best": [0.1], "who": None}

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(CheckpointError, match=r"none: expected a model or checkpoint, found no file"):
            load_tensors(tmp_path / "none")

    @pytest.mark.parametrize(
        "keep", [0, 4, 100, -1], ids=["nothing", "4 bytes", "100 bytes", "all but one byte"]
    )
    def test_a_torn_file_is_named(self, tmp_path, keep):
        path = tmp_path / "file"
        save_tensors(path, TENSORS, {})
        path.write_bytes(path.read_bytes()[:keep])
        with pytest.raises(
            CheckpointError, match=r"file: expected a model or checkpoint, found a damaged file"
        ):
            load_tensors(path)

    def test_a_pickle_is_not_opened(self, tmp_path):
        torch.save(TENSORS, tmp_path / "file")
        with pytest.raises(CheckpointError, match="damaged file"):
            load_tensors(tmp_path / "file")

    def test_nothing_in_the_package_pickles(self):
        sources = Path(ftor.__file__).parent.rglob("*.py")
        guilty = r"\bimport pickle|\bpickle\.|torch\.(save|load)\(|\bsave_state\(|\bload_state\("
        assert [path.name for path in sources if re.search(guilty, path.read_text("utf-8"))] == []


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


def test_a_run_that_the_disk_has_no_room_for_can_go_on_later(data, tmp_path, trained):
    """There is room for the weights, but not for a checkpoint, which has the optimiser's state too."""
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
