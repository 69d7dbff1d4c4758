"""Which runs are planned, and which of them are known to be done."""

from collections import Counter

import pytest

from ftor.config import ConfigError
from ftor.lab.paper import TABLES
from ftor.lab.plan import Choice, plan, require_data
from ftor.text.reading import DataError


def planned(tmp_path, *tables, **choice):
    return plan(Choice(tables, **choice), tmp_path, None, threads=1)


def record(run, **changes):
    config = run.job.config
    found = {"experiment": config.name, "config": config.hash, "seed": config.training.seed}
    return found | {"test": {"exact_match": 1.0}, "seconds": 60.0, "dev_seconds": 4.0} | changes


@pytest.mark.parametrize(
    ("table", "rows", "all_rows", "seeds"),
    [("mirror", 8, 14, 5), ("geo", 9, 9, 5), ("atis", 2, 8, 5), ("okapi", 3, 6, 5), ("style", 3, 3, 3)],
)
def test_each_row_is_run_with_each_seed(tmp_path, table, rows, all_rows, seeds):
    runs = planned(tmp_path, table)
    counts = Counter(run.row.experiment for run in runs)
    assert (len(counts), set(counts.values())) == (rows, {seeds})
    assert {run.job.config.training.seed for run in runs} == set(range(seeds))
    assert len({run.job.folder for run in runs}) == len(runs)
    assert len(planned(tmp_path, table, seeds=2, baselines=True)) == 2 * all_rows
    first = [run.job.config.training.seed for run in runs[:rows]]
    assert first == [0] * rows, "a table is whole before a row has its second seed"


def test_several_tables_have_their_own_numbers_of_seeds(tmp_path):
    counts = Counter(run.table for run in planned(tmp_path, *TABLES))
    assert counts == {"mirror": 40, "geo": 45, "atis": 10, "okapi": 15, "style": 9}


def test_some_experiments_are_chosen_by_their_names(tmp_path):
    names = {run.row.experiment for run in planned(tmp_path, "geo", only=["geo-*-rf", "geo-iid"])}
    assert names == {"geo-iid", "geo-iid-rf", "geo-template-rf", "geo-length-rf"}
    assert {run.row.experiment for run in planned(tmp_path, "atis", only=["*-iid-lstm"])} == {"atis-iid-lstm"}
    with pytest.raises(ConfigError, match="--only geo-idd: expected experiments of geo, which are geo-iid, "):
        planned(tmp_path, "geo", only=["geo-idd"])


def test_a_try_has_folders_of_its_own(tmp_path):
    (run,) = planned(tmp_path, "geo", only=["geo-iid"], seeds=1)
    (tried,) = planned(tmp_path, "geo", only=["geo-iid"], seeds=1, overrides=["training.epochs=1"])
    assert run.name == tried.name == "geo-iid-0"
    assert run.job.folder != tried.job.folder


def test_only_networks_that_want_it_ask_for_a_gpu(tmp_path):
    runs = planned(tmp_path, "atis", baselines=True, seeds=1)
    assert {run.row.model: run.job.gpus for run in runs} == {
        "F→R": 0,
        "LSTM": 0,
        "Transformer": 1,
        "BART-base": 1,
    }


def test_a_run_is_recorded_by_its_experiment_configuration_and_seed(tmp_path):
    first, second = planned(tmp_path, "geo", only=["geo-iid"], seeds=2)
    assert first.is_in([record(first)])
    assert not second.is_in([record(first)])
    assert not first.is_in([record(first, config="other")])
    evaluated = record(first)
    del evaluated["test"]
    assert not first.is_in([evaluated]), "an evaluation of a model is no run"
    (tried,) = planned(tmp_path, "geo", only=["geo-iid"], seeds=1, overrides=["training.epochs=1"])
    assert not tried.is_in([record(first)])


def test_how_long_it_takes_is_known_from_other_seeds(tmp_path):
    first, second = planned(tmp_path, "geo", only=["geo-iid"], seeds=2)
    records = [record(first), record(first, seconds=70.0), record(first, config="other", seconds=1e6)]
    assert second.seconds(records) == 69.0
    assert second.seconds([]) is None


def test_the_ledger_says_what_the_run_is_of(tmp_path):
    (run,) = planned(tmp_path, "geo", only=["geo-length-rf"], seeds=1)
    found = run.record(record(run))
    assert (found["table"], found["model"], found["split"]) == ("geo", "R→F", "length")
    assert found["experiment"] == "geo-length-rf"


def test_missing_data_is_told_before_anything_runs(tmp_path):
    runs = planned(tmp_path, "geo", "mirror", seeds=1)
    with pytest.raises(
        DataError, match=r"geo-iid: geo/iid_train.tsv: no such file; looked in .*ftor data fetch"
    ):
        require_data(runs, tmp_path)
    require_data(planned(tmp_path, "mirror", seeds=1), tmp_path)  # which is generated
