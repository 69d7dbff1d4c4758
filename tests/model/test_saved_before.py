"""Model folders that older versions saved: they load, and predict what they predicted then.

saved/VERSION/NAME is a model folder as `ftor train` of that version left it, without its checkpoints.
predictions.jsonl holds the predictions of that version, one per line.
"""

import json
from pathlib import Path

import pytest

import ftor
from ftor.files import read_json_lines
from ftor.metrics import Metrics

FOLDERS = sorted(path.parent for path in (Path(__file__).parent / "saved").glob("*/*/config.toml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
class TestSavedBefore:
    def test_predictions_are_the_same(self, folder):
        model = ftor.load(folder, data_folder=folder)  # where no file of word vectors is found
        for before in read_json_lines(folder / "predictions.jsonl"):
            (now,) = model.predict([before["sentence"]], grammar=before["grammar"])
            assert list(now.tokens) == before["tokens"]
            # Another processor may add in another order.
            assert now.score == pytest.approx(before["score"], abs=1e-5)
            assert now.length_score == pytest.approx(before["length_score"], abs=1e-5)
            if before["tree"] is not None:
                assert list(now.structure.fertilities) == before["fertilities"]
                assert str(now.structure.tree) == before["tree"]

    def test_metrics_load(self, folder):
        metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
        for split in ("dev", "test"):
            assert Metrics.from_dict(metrics[split]).as_dict() == metrics[split]


def test_there_are_such_folders():
    assert {folder.name for folder in FOLDERS} == {"copying", "autoregressive", "lstm"}
