"""The paper's numbers, against sums that were made from its tables by hand."""

import pytest

from ftor.config import Config, shipped
from ftor.lab.appendix import APPENDIX
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
    unpublished = {name for name in shipped() if name.startswith(("geo", "okapi")) and name.endswith("-lstm")}
    public = {"cogs", *(name for name in shipped() if name.startswith("scan-"))}
    beyond = {row.beyond for table in TABLES.values() for row in table.rows if row.beyond is not None}
    assert beyond == {name for name in shipped() if name.endswith("-beyond")}
    others = {*own, *AS_RELEASED, *units, *unpublished, *public, *beyond}
    assert set(experiments) == shipped().keys() - others


@pytest.mark.parametrize("name", [name for name in shipped() if name.endswith("-beyond")])
def test_what_is_beyond_the_paper_is_judged_as_what_is_shipped(name):
    beyond, ours = (Config.load(n) for n in (name, name.removesuffix("-beyond")))
    assert [getattr(beyond.data, part) for part in ("task", "train", "dev", "test")] == [
        getattr(ours.data, part) for part in ("task", "train", "dev", "test")
    ]
    assert beyond.decoding == ours.decoding
    assert beyond.model.reader == "sentence-transformers/all-MiniLM-L6-v2" or (
        beyond.model.reader is None and beyond.data.copy_forms
    ), "on the hub, for everyone"
    recombined = "length" in name or name.startswith("okapi")
    assert (beyond.training.recombine > 0) == recombined


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


@pytest.mark.parametrize(
    ("column", "means", "deviations"),
    [
        ("dev", 1757.41, 57.75),
        ("exact match", 527.4, 31.0),
        ("exact match, grammar", 420.8, 17.9),
        ("length error", 18.07, 1.61),
        ("dev BLEU-4", 159.3, 2.5),
        ("dev CIDEr", 16.279, 0.292),
    ],
)
def test_columns_of_the_appendix_add_up(column, means, deviations):
    numbers = [row[column] for row in APPENDIX.values() if column in row]
    assert sum(number.mean for number in numbers) == pytest.approx(means)
    assert sum(number.deviation for number in numbers) == pytest.approx(deviations)


def test_the_appendix_is_about_rows_of_the_tables():
    assert APPENDIX.keys() <= {row.experiment for table in TABLES.values() for row in table.rows}


def test_pretrained_models_that_the_paper_lacks_have_rows_without_its_numbers():
    rows = [row for table in TABLES.values() for row in table.rows if row.model == "Marian"]
    assert [Config.load(row.experiment).model.architecture for row in rows] == ["pretrained"] * 4
    for row in rows:
        others = Config.load(row.experiment.replace("marian", "bart"))
        assert Config.load(row.experiment).data == others.data
        assert (row.numbers, row.baseline) == ({}, True)
