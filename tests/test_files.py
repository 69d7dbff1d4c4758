"""Files are complete or not there. What was there before survives any failure."""

import errno
import os

import pytest

from ftor.files import clear_unfinished, write_atomically, write_json, write_text


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
