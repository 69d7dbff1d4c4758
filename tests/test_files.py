"""Files are complete or not there. What was there before survives any failure. JSON lines."""

import errno
import os

import pytest

from ftor.errors import FtorError
from ftor.files import (
    append_json_line,
    clear_unfinished,
    read_json_lines,
    write_atomically,
    write_json,
    write_text,
)


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


class TestJsonLines:
    def test_come_back_in_their_order(self, tmp_path):
        path = tmp_path / "new" / "folder" / "a.jsonl"
        records = [{"a": 1, "b": [0.1, None]}, {}, {"text": "ü → \u2028 \x85 \n"}]
        for record in records:
            append_json_line(path, record)
        assert read_json_lines(path) == records
        assert len(path.read_bytes().splitlines()) == 3

    @pytest.mark.parametrize("text", ['{"a": 1}\n', '{"a": 1}'], ids=["line", "no newline"])
    def test_the_last_line_may_lack_its_end(self, tmp_path, text):
        (tmp_path / "a.jsonl").write_text(text)
        assert read_json_lines(tmp_path / "a.jsonl") == [{"a": 1}]

    def test_an_empty_file_has_no_records(self, tmp_path):
        (tmp_path / "a.jsonl").touch()
        assert read_json_lines(tmp_path / "a.jsonl") == []

    @pytest.mark.parametrize("line", ["", "[1]", "3", '{"a": ', "nonsense"])
    def test_a_bad_line_is_named(self, tmp_path, line):
        (tmp_path / "a.jsonl").write_text(f'{{"a": 1}}\n{line}\n{{}}\n')
        with pytest.raises(FtorError) as error:
            read_json_lines(tmp_path / "a.jsonl")
        assert str(error.value) == f"{tmp_path / 'a.jsonl'}:2: not a JSON object: {line!r}"
