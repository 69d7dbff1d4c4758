"""The pairs of a run: what is left out, held out and refused."""

import json

import pytest

from ftor.config import Config
from ftor.reporting import Report
from ftor.text.reading import DataError
from ftor.training import data
from ftor.training.data import load_training_data

TRANSDUCER = {"data.start_token": False, "model.max_fertility": 2}


class Messages(Report):
    """Keeps what is said and warned."""

    def __init__(self):
        self.said, self.warned = [], []

    def say(self, text):
        self.said.append(text)

    def warn(self, text):
        self.warned.append(text)


@pytest.fixture
def load(tmp_path):
    """Load pairs, given as one text per split, for an experiment with some settings."""

    def load_texts(report, settings=None, **texts):
        for split, text in texts.items():
            (tmp_path / f"{split}.tsv").write_text(text)
        files = {f"data.{split}": str(tmp_path / f"{split}.tsv") for split in texts}
        overrides = files | (settings or TRANSDUCER)
        config = Config.load("transducer", [f"{key}={json.dumps(value)}" for key, value in overrides.items()])
        return load_training_data(config, None, tmp_path / "run", report)

    return load_texts


def lines(pairs):
    return [pair.line for pair in pairs]


SHORT, LONG = "a b\tx y\n", "a\tx y z\n"


def test_training_pairs_out_of_reach_are_left_out_and_listed(load, tmp_path):
    report = Messages()
    loaded = load(report, train=SHORT + LONG + SHORT, dev=SHORT)
    assert lines(loaded.train) == [1, 3]
    (warning,) = report.warned
    assert warning.startswith("left out 1 of 3 training pairs: their targets are longer than 2 copies")
    assert warning.endswith(f"{tmp_path / 'train.tsv'}:2: 3 target tokens from 1 source tokens")


def test_the_start_token_is_a_position_to_copy(load):
    loaded = load(Messages(), TRANSDUCER | {"data.start_token": True}, train=LONG, dev=SHORT)
    assert lines(loaded.train) == [1]


def test_networks_without_fertilities_reach_everything(load):
    settings = {"data.start_token": False, "model.architecture": "lstm"}
    loaded = load(Messages(), settings, train=LONG, dev=LONG)
    assert lines(loaded.train) == lines(loaded.reachable_dev) == [1]


def test_dev_pairs_out_of_reach_are_kept_but_have_no_loss(load):
    report = Messages()
    loaded = load(report, train=SHORT, dev=LONG + SHORT)
    assert lines(loaded.dev) == [1, 2]
    assert lines(loaded.reachable_dev) == [2]
    assert report.warned[0].endswith(
        "dev.tsv: 1 of 2 dev targets are too long for model.max_fertility; the dev loss leaves them out"
    )


@pytest.mark.parametrize(
    ("train", "dev", "message"),
    [
        (LONG, SHORT, "train.tsv: all targets are too long for model.max_fertility"),
        (SHORT, LONG, "dev.tsv: all dev targets are too long for model.max_fertility"),
    ],
)
def test_nothing_in_reach_is_an_error(load, train, dev, message):
    with pytest.raises(DataError, match=message):
        load(Messages(), train=train, dev=dev)


def test_every_tenth_pair_in_reach_is_held_out_without_a_dev_file(load):
    report = Messages()
    loaded = load(report, train=LONG + SHORT * 20)
    assert lines(loaded.dev) == [11, 21]
    assert lines(loaded.train) == [line for line in range(2, 21) if line != 11]
    assert "no dev file: every 10th training pair is held out (2 of 20)" in report.said


def test_few_pairs_are_dev_pairs_too(load):
    report = Messages()
    loaded = load(report, train=SHORT * 9)
    assert loaded.dev == loaded.train
    assert report.warned == ["no dev file: the best epoch is chosen on the 9 training pairs themselves"]


def test_bad_lines_of_all_files_are_listed(load):
    with pytest.raises(DataError, match=r"train\.tsv:2: .*\n.*dev\.tsv:1: "):
        load(Messages(), train=SHORT + "a\n", dev="b\n")


class TestMemory:
    @pytest.fixture(autouse=True)
    def little_memory(self, monkeypatch):
        free = type("Memory", (), {"available": 2e6})
        monkeypatch.setattr(data.psutil, "virtual_memory", lambda: free)

    def test_long_targets_are_refused(self, load):
        pair = " ".join("a" * 100)
        with pytest.raises(
            DataError, match=r"train\.tsv:2: a target of 100 tokens needs about 0 GB of memory"
        ):
            load(Messages(), train=SHORT + f"{pair}\t{pair}\n", dev=SHORT)

    def test_what_is_not_reordered_needs_no_memory(self, load):
        pair = " ".join("a" * 100)
        load(Messages(), TRANSDUCER | {"model.order": "fertility"}, train=f"{pair}\t{pair}\n", dev=SHORT)
