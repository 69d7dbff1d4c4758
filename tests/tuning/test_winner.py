"""The winner's configuration file."""

from dataclasses import replace
from functools import partial

import pytest

from ftor.config import Config
from ftor.tuning.trials import winner
from ftor.tuning.winner import winning_toml
from support.pretended_runs import BASE, tuned


@pytest.fixture
def tune(tmp_path):
    return partial(tuned, tmp_path)


def test_the_winner_is_written_with_where_it_is_from(tune, tmp_path):
    plan, trials, _ = tune(lambda weight, seed: weight / 20)
    text = winning_toml(plan, trials, winner(trials))
    assert "# trial" in text
    assert "from 0.1 to 10.0; transducer has 3.2" in text
    (tmp_path / "tuned.toml").write_text(text)
    config = Config.load(tmp_path / "tuned.toml")
    assert config.training.length_weight == winner(trials).values["training.length_weight"]
    assert config.training.epochs == Config.load("transducer").training.epochs
    assert config.name == "tuned"


@pytest.mark.parametrize(("better", "of"), [(1.0, "0.1 to 10.0"), (-1.0, "transducer")])
def test_the_winner_says_how_the_experiment_differs_not_what_it_was_tuned_on(tune, tmp_path, better, of):
    plan, trials, _ = tune(lambda weight, seed: 0.5 + better * abs(weight - BASE) / 20)
    experiment = tmp_path / "mine.toml"
    experiment.write_text('base = "transducer"\n[training]\nlength_weight = 1.5\n')
    plan, best = replace(plan, experiment=str(experiment)), winner(trials)
    assert best.unchanged == (of == plan.on)
    text = winning_toml(plan, trials, best)
    assert f"trial {best.number}, from {of}; mine has 1.5" in text
    assert ("the unchanged configuration of transducer wins" in text) == best.unchanged
    (tmp_path / "tuned.toml").write_text(text)
    tuned = Config.load(tmp_path / "tuned.toml")
    assert tuned.training.length_weight == best.values["training.length_weight"] != 1.5
