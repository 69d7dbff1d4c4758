"""The paper's numbers, against sums that were made from its tables by hand."""

import pytest

from ftor.config import Config, shipped
from ftor.lab.paper import TABLES

AS_RELEASED = [name for name in shipped() if name.endswith("-paper")]


@pytest.mark.parametrize(
    ("table", "column", "means", "deviations"),
    [
        ("geo", "grammar", 475.4, 14.6),
        ("geo", "none", 580.0, 26.0),
        ("atis", "grammar", 191.03, 9.26),
        ("atis", "none", 362.0, 16.57),
        ("okapi", "grammar", 167.5, 22.3),
        ("okapi", "none", 197.1, 44.2),
        ("style", "BLEU-1", 238.8, 3.3),
        ("style", "BLEU-4", 147.9, 3.9),
        ("style", "METEOR", 136.3, 1.9),
        ("style", "CIDEr", 15.376, 0.421),
        ("mirror", "dev", 472.0, None),
        ("mirror", "11", 383.0, None),
        ("mirror", "14–20", 280.5, None),
        ("mirror", "test", 156.6, None),
    ],
)
def test_columns_add_up(table, column, means, deviations):
    numbers = [row.numbers[column] for row in TABLES[table].rows if column in row.numbers]
    assert sum(number.mean for number in numbers) == pytest.approx(means)
    if deviations is not None:
        assert sum(number.deviation for number in numbers) == pytest.approx(deviations)


def test_every_row_is_an_experiment_and_no_experiment_is_twice():
    experiments = [row.experiment for table in TABLES.values() for row in table.rows]
    assert len(set(experiments)) == len(experiments)
    units = {name for name in shipped() if name.endswith("-units")}
    own = {"transducer", "programs", "programs-lstm"}
    public = {"cogs", *(name for name in shipped() if name.startswith("scan-"))}
    assert set(experiments) == shipped().keys() - {*own, *AS_RELEASED, *units, *public}


IBM1 = {"training.aligner": "ibm1", "training.align_start": False}
RELEASED = {
    "mirror": {"data.start_token": True, "model.embedding": "xavier"},
    "mirror-rf": {"model.context_scale": 0.05},
    "geo": IBM1 | {"training.alignment_epochs": 5, "model.fertility_skip": False},
    "geo-rf": IBM1 | {"training.alignment_epochs": 8},
    "atis": {"training.epochs": 100, "training.average_epochs": 0.0},
    "okapi": {"training.aligner": "ibm1", "data.lowercase": False},
}


@pytest.mark.parametrize("name", AS_RELEASED)
def test_released_settings_and_no_others(name):
    released, ours = (Config.load(n).model_dump() for n in (name, name.removesuffix("-paper")))
    different = {
        f"{section}.{key}": value
        for section in ("data", "model", "training", "decoding")
        for key, value in released[section].items()
        if value != ours[section][key]
    }
    assert different == RELEASED[name.split("-")[0] + ("-rf" if "-rf-" in name else "")]
