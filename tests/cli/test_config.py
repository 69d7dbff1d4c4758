import pytest

from ftor.config import Config
from support.tiny import run_here


def test_show_prints_the_whole_configuration(tmp_path):
    finished = run_here("config", "show", "geo-iid", "--set", "epochs=3")
    assert (finished.code, finished.err) == (0, "")
    (tmp_path / "geo-iid.toml").write_text(finished.out, "utf-8")
    assert Config.load(tmp_path / "geo-iid.toml") == Config.load("geo-iid", ["training.epochs=3"])


def test_diff_prints_the_keys_that_differ(tmp_path):
    first, second = tmp_path / "mine.toml", tmp_path / "other" / "mine.toml"
    second.parent.mkdir()
    first.write_text("[training]\nepochs = 3\n[model]\ncopying = true\n")
    second.write_text('[training]\nepochs = 4\ntrackers = ["tensorboard"]\n[model]\ncopying = true\n')
    finished = run_here("config", "diff", first, second)
    assert (finished.code, finished.err) == (0, "")
    assert finished.out.splitlines() == [
        "training.epochs: 3 → 4",
        'training.trackers: [] → ["tensorboard"]',
    ]
    assert run_here("config", "diff", first, first).out == ""


def test_diff_of_two_architectures():
    lines = run_here("config", "diff", "mirror", "mirror-lstm").out.splitlines()
    assert 'model.architecture: "transducer" → "lstm"' in lines
    assert "model.max_fertility: 4 → not set" in lines
    assert "model.beam: not set → 5" in lines


@pytest.mark.parametrize("arguments", [["show", "mirorr"], ["diff", "mirror", "mirorr"]])
def test_unknown_experiments(arguments):
    finished = run_here("config", *arguments)
    assert (finished.code, finished.out) == (2, "")
    assert finished.err.startswith("error: mirorr: no such experiment")
