from pathlib import Path

import pytest

from ftor.tuning.plan import Plan, make_plan
from ftor.tuning.trials import Result, Trial

KEYS = ("training.length_weight", "model.encoder", "training.batch_size")


def trial(number: int, values: tuple[object, ...], *shares: float, **options: object) -> Trial:
    results = {1000 + place: Result(share, 1.0, 3, 60.0) for place, share in enumerate(shares)}
    return Trial(number, dict(zip(KEYS, values, strict=True)), results, **options)


@pytest.fixture
def search(tmp_path: Path) -> tuple[Plan, list[Trial]]:
    """Give a plan, and a trial of every kind. The second wins."""
    space = tmp_path / "space.toml"
    space.write_text(
        '"training.length_weight" = { low = 0.1, high = 10.0, log = true }\n'
        '"model.encoder" = { choices = ["plain", "highway"] }\n'
        '"training.batch_size" = { low = 8, high = 64 }\n'
    )
    trials = [
        trial(0, (3.2, "highway", 32), 0.5, 0.6, unchanged=True, third=Result(0.7, 1.0, 3, 60.0)),
        trial(1, (1.25, "plain", 16), 0.8, 0.7, third=Result(0.9, 1.0, 3, 60.0)),
        trial(2, (0.5, "plain", 8), 0.8, 0.8, third="it broke"),
        trial(3, (9.0, "highway", 64), state="failed", reason="seed 1000: it [red] broke"),
        trial(4, (7.0, "plain", 20), 0.1, state="pruned"),
    ]
    return make_plan("transducer", space, epochs=5, trials=4), trials
