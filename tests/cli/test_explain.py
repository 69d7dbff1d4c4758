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


def test_other_pictures_are_refused(trained):
    finished = run_here("explain", trained, "a", "--out", "a.pdf")
    assert (finished.code, finished.out) == (2, "")
    assert "expected .png or .svg, found a.pdf" in finished.err


def test_a_sentence_that_is_too_long(trained, tmp_path):
    for options in ([], ["--out", tmp_path / "picture.svg"]):
        finished = run_here("explain", trained, "a " * 700, *options)
        assert finished.code == 1
        assert "too long: at most 600 can be reordered" in finished.err
