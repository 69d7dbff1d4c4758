import json
import shutil

import pytest

from ftor.datasets.mirror import mirror
from ftor.text.reading import write_pairs
from support.tiny import run_here


@pytest.fixture
def folder(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def dev(tmp_path):
    write_pairs(mirror(20, range(2, 5), seed=7), tmp_path / "dev20.tsv")
    return tmp_path / "dev20.tsv"


def test_predictions_have_a_confidence_afterwards(folder, dev, data):
    before = json.loads(run_here("predict", folder, "a b").out)
    finished = run_here("calibrate", folder, dev)
    assert finished.code == 0
    assert (
        finished.err
        == "warning: all answers are right, or all are wrong: such pairs say little about confidence\n"
    )
    assert finished.out.startswith("calibrated: ")
    assert finished.out.endswith(" of 20 answers are right (exact match)\n")
    after = json.loads(run_here("predict", folder, "a b", "--n-best", "3").out)
    assert before["confidence"] is None
    assert (after["prediction"], after["score"]) == (before["prediction"], pytest.approx(before["score"]))
    assert 0 < after["confidence"] < 1
    assert len(after["alternatives"]) == 2
    withheld = json.loads(run_here("predict", folder, "a b", "--min-confidence", "1").out)
    assert (withheld["prediction"], withheld["abstained"]) == (None, True)
    assert withheld["alternatives"][0]["prediction"] == after["prediction"]


def test_evaluate_says_how_far_confidences_can_be_trusted(folder, dev, data, tmp_path):
    plot = tmp_path / "risk.svg"
    refused = run_here("evaluate", folder, data / "test.tsv", "--plot", plot)
    assert refused.code == 1
    assert "is not calibrated; run ftor calibrate" in refused.err
    run_here("calibrate", folder, dev)
    finished = run_here("evaluate", folder, data / "test.tsv", "--plot", plot)
    for text in ("expected calibration error", "accuracy of the surest 50 %", "80 %", "90 %"):
        assert text in finished.out
    assert plot.read_text().startswith("<?xml")
    values = json.loads(run_here("evaluate", folder, data / "test.tsv", "--json").out)
    assert set(values["reliability"]) == {"error", "accuracies", "risks", "bins"}
    assert run_here("evaluate", folder, data / "test.tsv", "--plot", "a.txt").code == 2


def test_too_few_pairs(folder, data):
    finished = run_here("calibrate", folder, data / "dev.tsv")
    assert (finished.code, finished.out) == (1, "")
    assert finished.err == "error: calibration: expected at least 10 pairs, found 8\n"
    refused = run_here("predict", folder, "a", "--min-confidence", "0.5")
    assert refused.code == 1
    assert "the model is not calibrated" in refused.err


def test_a_committee_replaces_no_model(folder, trained, dev, tmp_path):
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    finished = run_here("calibrate", folder, trained, dev, "--out", folder)
    assert (finished.code, "expected a new folder or one of a committee" in finished.err) == (2, True)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    for _ in range(2):  # that of a committee is written anew
        finished = run_here("calibrate", folder, trained, dev, "--out", tmp_path / "committee")
        assert finished.code == 0, finished.err
