"""Tensors in safetensors files."""

import re
import stat
from pathlib import Path

import pytest
import torch

import ftor
from ftor.files import write_text
from ftor.model.tensors import CheckpointError, load_tensors, save_tensors

TENSORS = {"weight": torch.arange(6.0).view(2, 3), "step": torch.tensor(3, dtype=torch.int64)}


def test_come_back_with_their_description(tmp_path):
    save_tensors(tmp_path / "file", TENSORS, {"epoch": 3, "best": [0.1], "who": None})
    tensors, description = load_tensors(tmp_path / "file")
    assert {name: tensor.dtype for name, tensor in tensors.items()} == {
        name: tensor.dtype for name, tensor in TENSORS.items()
    }
    assert all(tensors[name].equal(TENSORS[name]) for name in TENSORS)
    assert description == {"epoch": 3, "best": [0.1], "who": None}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CheckpointError, match=r"none: no such file"):
        load_tensors(tmp_path / "none")


@pytest.mark.parametrize("keep", [0, 4, 100, -1], ids=["nothing", "4 bytes", "100 bytes", "all but one byte"])
def test_a_torn_file_is_named(tmp_path, keep):
    path = tmp_path / "file"
    save_tensors(path, TENSORS, {})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match=r"file: damaged file"):
        load_tensors(path)


def test_a_pickle_is_not_opened(tmp_path):
    torch.save(TENSORS, tmp_path / "file")
    with pytest.raises(CheckpointError, match="damaged file"):
        load_tensors(tmp_path / "file")


def test_tensors_may_be_read_by_whoever_may_read_other_files(tmp_path):
    save_tensors(tmp_path / "tensors", TENSORS, {})
    write_text(tmp_path / "text", "")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("tensors", "text")}
    assert len(modes) == 1


def test_nothing_of_a_model_is_pickled():
    sources = Path(ftor.__file__).parent.rglob("*.py")
    guilty = r"\bimport pickle|\bpickle\.|torch\.(save|load)\(|\bsave_state\(|\bload_state\("
    own_code = ["precompiled.py"]  # reads the package's own machine code, as numba reads its cache
    assert [path.name for path in sources if re.search(guilty, path.read_text("utf-8"))] == own_code
