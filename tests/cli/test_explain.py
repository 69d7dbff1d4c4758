import pytest

from support.tiny import run_here


def test_text(trained):
    finished = run_here("explain", trained, "a b c")
    assert (finished.code, finished.err) == (0, "")
    for text in ("fertilities", "reordering tree", "alignment"):
        assert text in finished.out


def test_a_picture(trained, tmp_path):
    finished = run_here("explain", trained, "a b c", "--out", tmp_path / "a.svg")
    assert (finished.code, finished.out, finished.err) == (0, "", "")
    assert "<svg" in (tmp_path / "a.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "message"), [("a.pdf", "a.pdf: "), ("nowhere/a.svg", "nowhere")], ids=["suffix", "folder"]
)
def test_bad_paths(trained, tmp_path, name, message):
    finished = run_here("explain", trained, "a", "--out", tmp_path / name)
    assert (finished.code, finished.out) == (1, "")
    assert message in finished.err
    assert len(finished.err.splitlines()) == 1
