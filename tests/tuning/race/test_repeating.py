"""The same seed makes the same choice and gives the same model."""

from itertools import product

import pytest

from ftor.reporting import SILENT
from ftor.tuning.own_pairs import Request, train_on_pairs
from support.tiny import write_lines


@pytest.mark.slow
def test_two_races_choose_the_same_and_give_the_same_model(tmp_path):
    """Of candidates that train for two epochs, with two runs at a time."""
    rows = [f"{' '.join(words)}\t{' '.join(words[::-1])}" for words in product("abc", repeat=3)]
    pairs = write_lines(tmp_path / "pairs.tsv", *rows)
    overrides = ["training.epochs=2", "model.width=8", "model.scorer_hidden=8", "training.confidence=false"]
    request = Request.new(pairs, overrides=overrides, minutes=0.1)
    choices = [train_on_pairs(request, tmp_path / name, SILENT) for name in ("one", "two")]
    one, two = ({**choice.model_dump(), "tried": tried_by(choice)} for choice in choices)
    assert one == two
    assert len(one["tried"]) > 5
    weights = {(tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two")}
    assert len(weights) == 1


def tried_by(choice):
    """Return all that runs gave, without the time that they took."""
    runs = [run.model_dump(exclude={"seconds"}) for run in choice.tried]
    return sorted(runs, key=lambda run: (run["candidate"], run["seed"], run["epochs"], run["on_all_pairs"]))
