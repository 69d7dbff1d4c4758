"""Scores of style transfer: the published check values, and what happens without the programs they need."""

import os
import stat
import sys
from pathlib import Path

import pytest

from ftor.config import Config
from ftor.datasets import scorers, style
from ftor.errors import FtorError
from ftor.lab.trivial import TRIVIAL
from ftor.metrics import evaluate
from ftor.text.reading import read_pairs

pytest.importorskip("pycocoevalcap")

real_data = pytest.mark.skipif(
    not os.environ.get("FTOR_DATA"), reason="FTOR_DATA does not say where the real data is"
)
COPY, ALL_BUT_LAST = TRIVIAL
GOLDS = ["the dog was seen by me", "soup is what we eat", "that is all"]
OUTPUTS = ["the dog was seen by me", "soup we eat", "it is"]


@pytest.fixture(autouse=True)
def _look_for_java_anew():
    style.java_problem.cache_clear()
    yield
    style.java_problem.cache_clear()


def scores(golds, outputs, quick=True):
    found = [scorer for scorer in scorers("style") if not (quick and scorer.slow)]
    return evaluate(golds, outputs, scorers=found).scores


def split(sentences):
    return [sentence.split() for sentence in sentences]


def test_golds_have_the_best_scores(capfd):
    found = scores(split(GOLDS), split(GOLDS))
    assert found.pop("CIDEr") == pytest.approx(10 * (4 + 4 + 3) / (4 * 3))  # "that is all" has no 4-grams
    assert list(found) == ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L"]
    assert list(found.values()) == pytest.approx([1.0] * 5)
    assert capfd.readouterr() == ("", "")


def test_scores_worked_out_by_hand():
    found = scores(split(GOLDS), split(OUTPUTS))
    brevity = 2.718281828459045 ** (1 - 14 / 11)
    assert found["BLEU-1"] == pytest.approx(brevity * 10 / 11)
    assert found["BLEU-2"] == pytest.approx(brevity * (10 / 11 * 6 / 8) ** (1 / 2))
    f = [1, (1 + 1.44) * 3 / 5 / (3 / 5 + 1.44), (1 + 1.44) * 1 / 2 * 1 / 3 / (1 / 3 + 1.44 * 1 / 2)]
    assert found["ROUGE-L"] == pytest.approx(sum(f) / 3)


def test_only_blanks_separate_tokens():
    assert scores([["Don't", "stop."]], [["do", "n't", "stop", "."]])["BLEU-1"] == pytest.approx(0, abs=1e-9)


CHECKED = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr")
CHECKS = [
    ("ATP", "valid", COPY, (73.394, 61.999, 52.601, 45.162, 58.651, 5.0747)),
    ("ATP", "test", COPY, (73.428, 61.543, 51.241, 42.938, 59.309, 4.9381)),
    ("AEM", "valid", COPY, (73.336, 57.356, 47.528, 39.968, 59.625, 4.4305)),
    ("AEM", "test", COPY, (79.882, 62.799, 50.077, 39.704, 65.300, 4.5860)),
    ("VEM", "valid", COPY, (52.853, 41.330, 33.458, 27.148, 47.593, 3.2211)),
    ("VEM", "test", COPY, (55.023, 44.659, 36.254, 28.768, 50.419, 3.3345)),
    ("ATP", "test", ALL_BUT_LAST, (62.840, 51.208, 41.623, 34.390, 53.359, 3.9603)),
    ("AEM", "test", ALL_BUT_LAST, (67.948, 52.316, 40.823, 32.532, 61.596, 3.8737)),
    ("VEM", "test", ALL_BUT_LAST, (45.583, 36.515, 28.860, 22.289, 46.574, 2.6969)),
]


@real_data
@pytest.mark.parametrize(("task", "part", "output", "expected"), CHECKS, ids=lambda value: str(value)[:8])
def test_published_check_values(task, part, output, expected):
    path = Path(os.environ["FTOR_DATA"]) / task / f"{part}.tsv"
    pairs = read_pairs(path, emphasis=task != "ATP")
    # One gold has two blanks in a row, an empty token to ROUGE-L, which we lose when reading.
    golds = [line.split("\t")[1].strip().split(" ") for line in path.read_text().splitlines()]
    found = scores(golds, [TRIVIAL[output](pair) for pair in pairs])
    values = [found[name] if name == "CIDEr" else 100 * found[name] for name in CHECKED]
    assert values[:-1] == pytest.approx(expected[:-1], abs=6e-4)
    assert values[-1] == pytest.approx(expected[-1], abs=6e-5)


@pytest.mark.slow
@pytest.mark.skipif(bool(style.java_problem()), reason="METEOR needs Java")
def test_meteor_is_computed_and_leaves_nothing_behind(capfd):
    golds, outputs = split(["a ||| b", *GOLDS]), split(["a b", *GOLDS])
    assert style.meteor(golds, outputs) == [pytest.approx(1.0)]
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@real_data
@pytest.mark.skipif(bool(style.java_problem()), reason="METEOR needs Java")
def test_meteor_of_copies_of_published_sentences():
    config = Config.load("style-adjective")
    pairs = read_pairs(Path(os.environ["FTOR_DATA"]) / config.data.test, emphasis=True)
    (score,) = style.meteor([pair.target for pair in pairs], [pair.source for pair in pairs])
    assert 100 * score == pytest.approx(44.288, abs=1e-3)  # as pycocoevalcap 1.2 computes it; not published


class Warnings:
    def __init__(self):
        self.texts = []

    def warn(self, text):
        self.texts.append(text)


def test_without_java_all_other_scores_are_computed(monkeypatch):
    asked = []
    monkeypatch.setattr("shutil.which", asked.append)
    report = Warnings()
    names = [name for scorer in scorers("style", report) for name in scorer.names]
    assert names == list(CHECKED)
    assert report.texts == ["METEOR is left out: java is not installed"]
    scorers("style")
    assert asked == ["java"]


def put_java(folder, script, monkeypatch):
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_a_java_that_does_not_run_is_as_good_as_none(tmp_path, monkeypatch):
    put_java(tmp_path, "echo 'Unable to locate a Java Runtime.' >&2; exit 1", monkeypatch)
    report = Warnings()
    assert "METEOR" not in [name for scorer in scorers("style", report) for name in scorer.names]
    assert report.texts == [
        f"METEOR is left out: {tmp_path / 'java'} does not run: Unable to locate a Java Runtime."
    ]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("echo too little memory >&2; exit 1", "too little memory"),
        ("while read line; do echo nonsense; done", "nothing"),
    ],
    ids=["it stops", "it talks nonsense"],
)
def test_a_meteor_that_fails_says_so_and_ends(tmp_path, monkeypatch, script, found):
    put_java(tmp_path, script, monkeypatch)
    with pytest.raises(FtorError, match=rf"METEOR: expected a score from java, found .*{found}"):
        style.meteor(split(GOLDS), split(OUTPUTS))


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    with pytest.raises(FtorError, match=r"pycocoevalcap is not installed: pip install 'ftor\[style\]'"):
        scorers("style")


def test_other_tasks_need_no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    assert scorers("pairs") == scorers("geo") == ()
