import pytest

from ftor.show.tuning.figure import save


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_is_the_same_every_time(search, tmp_path, suffix):
    for name in ("a", "b"):
        save(*search, tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_there_is_a_panel_for_each_parameter(search, tmp_path):
    save(*search, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    for label in (
        "length weight",
        "encoder",
        "batch size",
        "best so far",
        "unchanged",
        "pruned",
        "failed",
        "winner",
    ):
        assert f"<!-- {label} -->" in text
