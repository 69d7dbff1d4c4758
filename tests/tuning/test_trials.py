"""Results of trials."""

import pytest

from ftor.config import Config
from ftor.tuning.trials import objective_key
from support import tiny_geo


@pytest.mark.parametrize(
    ("task", "select_by", "name"),
    [
        ("pairs", "loss", "dev_exact_match"),
        ("pairs", "exact_match", "dev_exact_match"),
        ("pairs", "accuracy", "dev_exact_match"),
        ("geo", "exact_match", "dev_exact_match"),
        ("geo", "accuracy", "dev_execution_accuracy"),
        ("atis", "accuracy", "dev_tree_accuracy"),
        ("okapi", "accuracy", "dev_clause_accuracy"),
        ("style", "BLEU-3", "dev_BLEU-3"),
    ],
)
def test_the_objective_is_what_epochs_are_compared_by(tmp_path, task, select_by, name):
    config = Config.load("transducer", [f"data.task={task}", f"training.select_by={select_by}"])
    assert objective_key(config, tiny_geo.write(tmp_path)) == name
