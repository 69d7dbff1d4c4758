import pytest
from matplotlib.figure import Figure

from ftor.errors import FtorError
from ftor.show.drawing import house_style, save


@pytest.fixture
def figure():
    with house_style():
        figure = Figure(figsize=(2, 1))
        figure.add_subplot().plot([1, 3, 2], label="line")
        yield figure


def test_the_same_figure_gives_the_same_svg(figure, tmp_path):
    for name in ("a.svg", "new/folder/a.SVG"):
        save(figure, tmp_path / name, "A line", "numbers: 1")
    text = (tmp_path / "a.svg").read_text()
    assert (tmp_path / "new/folder/a.SVG").read_text() == text
    assert "dc:date" not in text
    assert "A line" in text
    assert "numbers: 1" in text


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_replaces_the_file_and_leaves_no_other(figure, tmp_path, name):
    (tmp_path / name).write_text("old")
    save(figure, tmp_path / name, "A line")
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG" if name == "a.png" else b"<?xml")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failure_leaves_the_old_file(figure, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_text("old")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(figure, tmp_path / "a.png", "A line")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.png.gz"])
def test_other_suffixes(figure, name, tmp_path):
    with pytest.raises(FtorError, match=rf"{name}: a figure is a \.png or \.svg file"):
        save(figure, tmp_path / name, "A line")
    assert list(tmp_path.iterdir()) == []
