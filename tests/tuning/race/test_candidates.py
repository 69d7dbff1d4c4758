"""Which candidates there are follows from the look."""

import random

import pytest

from ftor.reporting import SILENT
from ftor.tuning.own_pairs import Request, plan_race


@pytest.mark.parametrize(
    ("devices", "anchored"),
    [pytest.param(3, True, id="torn apart"), pytest.param(1, False, id="one command each")],
)
def test_words_that_are_torn_apart_have_a_candidate(tmp_path, devices, anchored):
    rng, named = random.Random(0), ["fan", "heater", "lamp", "radio", "speaker"]
    lines = []
    for line in range(120):
        verb, room = rng.choice(["raise", "lower"]), rng.choice(["attic", "cellar", "hall", "porch"])
        some = rng.sample(named, 1 + line % devices)
        targets = [f"{verb.upper()} {room.upper()} {one.upper()}" for one in some]
        lines.append(f"{verb} {' and '.join(some)} in {room}\t{' ; '.join(targets)}\n")
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(lines), "utf-8")
    plan = plan_race(Request.new(path, minutes=1), tmp_path / "model", SILENT)
    assert ("anchored" in plan.candidates) == anchored
    if anchored:
        config = plan.config(plan.entry("anchored", 0, plan.epochs))
        assert config.training.aligner == "anchored"
        assert (
            config.model.max_fertility > plan.config(plan.entry("taught", 0, plan.epochs)).model.max_fertility
        )
