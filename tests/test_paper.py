"""The paper's numbers, against sums that were made from its tables by hand."""

import pytest

from ftor.config import Config, shipped
from ftor.paper import TABLES


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
    as_released = {name for name in shipped() if name.endswith("-paper")}
    assert set(experiments) == set(shipped()) - {"transducer"} - as_released


@pytest.mark.parametrize("name", [name for name in shipped() if name.endswith("-paper")])
def test_released_settings_differ_from_the_default_in_nothing_else(name):
    released, ours = (Config.load(n).model_dump() for n in (name, name.removesuffix("-paper")))
    different = {
        f"{section}.{key}"
        for section in ("data", "model", "training", "decoding")
        for key in ours[section]
        if released[section][key] != ours[section][key]
    }
    aligned = {"training.aligner", "training.align_start", "training.alignment_epochs"}
    assert (
        different
        == {
            "mirror": {"data.start_token", "model.embedding"},
            "geo": aligned | {"model.fertility_skip"},
            "geo-rf": aligned,
            "atis": {"training.epochs", "training.average_epochs"},
            "okapi": {"data.lowercase", "training.aligner"},
        }[name.split("-")[0] + ("-rf" if "-rf-" in name else "")]
    )


@pytest.mark.parametrize(
    ("name", "epochs", "threshold"),
    [
        ("geo-iid-paper", 5, 0.8),
        ("geo-iid-rf-paper", 8, 0.7390817149956181),
        ("atis-length-paper", 7, 0.534977),
        ("okapi-calendar-paper", 8, 0.757705),
        ("okapi-email-paper", 6, 0.617632),
    ],
)
def test_released_alignments(name, epochs, threshold):
    training = Config.load(name).training
    assert training.aligner == "ibm1"
    assert (training.alignment_epochs, training.alignment_threshold) == (epochs, threshold)
