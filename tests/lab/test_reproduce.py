"""Which runs are planned, which of them are recorded, and how others get recorded."""

import json
from collections import Counter

import numpy as np
import pytest

from ftor.config import ConfigError, shipped
from ftor.files import read_json_lines
from ftor.jobs import run_jobs
from ftor.lab.ledger import read_ledgers
from ftor.lab.lines import read_line
from ftor.lab.paper import TABLES
from ftor.lab.reproduce import Reproduction, headline, plan_runs, tables_of
from ftor.metrics.judgements import Judgements, write_judgements
from ftor.reporting import SILENT
from ftor.show.board import Board
from ftor.show.progress import TerminalReport
from ftor.text.reading import DataError
from support import scripted_jobs
from support.scripted_jobs import Scripted, finishes


def planned(tmp_path, *tables, **options):
    return plan_runs(tables, tmp_path, **options)


def lines_of(*records):
    return [read_line(each) for each in records]


def record(run, **changes):
    return scripted_jobs.record(run.job, **{"seconds": 60.0, "dev_seconds": 4.0} | changes)


@pytest.mark.parametrize(
    ("table", "rows", "all_rows", "seeds"),
    [("mirror", 8, 14, 5), ("geo", 9, 9, 5), ("atis", 2, 10, 5), ("okapi", 3, 8, 5), ("style", 3, 3, 3)],
)
def test_each_row_is_run_with_each_seed(tmp_path, table, rows, all_rows, seeds):
    runs = planned(tmp_path, table)
    counts = Counter(run.job.config.name for run in runs)
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
    names = {run.job.config.name for run in planned(tmp_path, "geo", only=["geo-*-rf", "geo-iid"])}
    assert names == {"geo-iid", "geo-iid-rf", "geo-template-rf", "geo-length-rf"}
    assert {run.job.config.name for run in planned(tmp_path, "atis", only=["*-iid-lstm"])} == {
        "atis-iid-lstm"
    }
    with pytest.raises(ConfigError, match="--only geo-idd: no such experiment; geo has geo-iid, "):
        planned(tmp_path, "geo", only=["geo-idd"])


def test_the_papers_settings_are_run_by_their_names(tmp_path):
    runs = planned(tmp_path, *TABLES, only=["*-paper"], seeds=1)
    names = [run.job.config.name for run in runs]
    assert sorted(names) == sorted(name for name in shipped() if name.endswith("-paper"))
    (run,) = [run for run in runs if run.job.config.name == "geo-length-rf-paper"]
    assert (run.name, run.table, run.row.model) == ("geo-length-rf-paper-0", "geo", "R→F")
    assert run.job.folder.name.startswith("geo-length-rf-paper-0-")


def test_what_is_beyond_the_paper_is_run_by_one_name(tmp_path):
    runs = planned(tmp_path, "beyond")
    counts = Counter(run.job.config.name for run in runs)
    assert sorted(counts) == sorted(name for name in shipped() if name.endswith("-beyond"))
    assert set(counts.values()) == {3}
    assert {run.table for run in runs} == {"geo", "atis", "okapi", "style"} == set(tables_of("beyond"))
    only = planned(tmp_path, "beyond", only=["geo-*"], seeds=1)
    assert [run.name for run in only] == [
        "geo-iid-beyond-0", "geo-template-beyond-0", "geo-length-beyond-0"
    ]  # fmt: skip
    assert not [run for run in planned(tmp_path, *TABLES) if run.name in {one.name for one in runs}]
    with pytest.raises(ConfigError, match="beyond has experiments of all tables"):
        planned(tmp_path, "beyond", "geo")
    with pytest.raises(ConfigError, match="--only geo-iid: no such experiment; beyond has geo-iid-beyond, "):
        planned(tmp_path, "beyond", only=["geo-iid"])


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
        "Marian": 1,
    }


def test_a_run_is_recorded_by_its_experiment_configuration_and_seed(tmp_path):
    first, second = planned(tmp_path, "geo", only=["geo-iid"], seeds=2)
    assert first.is_in(lines_of(record(first)))
    assert not second.is_in(lines_of(record(first)))
    assert not first.is_in(lines_of(record(first, config="other")))
    evaluated = record(first)
    del evaluated["test"]
    assert not first.is_in(lines_of(evaluated)), "an evaluation of a model is no run"
    (tried,) = planned(tmp_path, "geo", only=["geo-iid"], seeds=1, overrides=["training.epochs=1"])
    assert not tried.is_in(lines_of(record(first)))


def test_how_long_it_takes_is_known_from_other_seeds(tmp_path):
    first, second = planned(tmp_path, "geo", only=["geo-iid"], seeds=2)
    records = [record(first), record(first, seconds=70.0), record(first, config="other", seconds=1e6)]
    assert second.seconds(lines_of(*records)) == 69.0
    assert second.seconds([]) is None


def test_the_ledger_says_what_the_run_is_of(tmp_path):
    (run,) = planned(tmp_path, "geo", only=["geo-length-rf"], seeds=1)
    found = run.record(record(run))
    assert (found["table"], found["model"], found["split"]) == ("geo", "R→F", "length")
    assert found["experiment"] == "geo-length-rf"


def test_missing_data_is_told_before_anything_runs(tmp_path):
    runs = planned(tmp_path, "geo", "mirror", seeds=1)
    with pytest.raises(
        DataError,
        match=r"11 files are missing, such as geo/iid_train.tsv; .* fetch geo geobase glove, or add",
    ):
        Reproduction(runs, tmp_path).require_data(tmp_path, None, SILENT)
    mirror = Reproduction(planned(tmp_path, "mirror", seeds=1), tmp_path)
    mirror.require_data(tmp_path, None, SILENT)  # it is generated
    beyond = Reproduction(planned(tmp_path, "beyond", only=["geo-*"]), tmp_path)
    with pytest.raises(DataError, match=r"15 files are missing, .* fetch geo geobase glove minilm, or add"):
        beyond.require_data(tmp_path, None, SILENT)
    own = Reproduction(planned(tmp_path, "geo", seeds=1, overrides=["data.train=my.tsv"]), tmp_path)
    with pytest.raises(DataError, match=r"files are missing, such as my.tsv; "):
        own.require_data(tmp_path, tmp_path, SILENT)  # nobody has published it


def reproduce(tmp_path, executor, seeds=2):
    runs = planned(tmp_path / "runs", "geo", seeds=seeds, only=["geo-iid"])
    reproduction = Reproduction(runs, tmp_path / "results")
    assert run_jobs(reproduction, executor, Board(TerminalReport(quiet=True), reproduction))
    return [(status.state, status.note) for status in reproduction.statuses]


def lines(tmp_path):
    path = tmp_path / "results" / "geo.jsonl"
    return read_json_lines(path) if path.exists() else []


def test_every_run_is_recorded_once_and_as_it_finishes(tmp_path):
    result = ("done", "execution accuracy 75.0 %")
    assert reproduce(tmp_path, Scripted(slots=2), seeds=3) == [result] * 3
    assert [line["seed"] for line in lines(tmp_path)] == [0, 1, 2]
    assert lines(tmp_path)[0]["split"] == "iid"
    executor = Scripted(slots=2)
    assert reproduce(tmp_path, executor, seeds=5) == [("done", "recorded before")] * 3 + [result] * 2
    assert executor.starts == [3, 4]
    assert [line["seed"] for line in lines(tmp_path)] == list(range(5))


def test_the_judgements_of_a_run_are_kept(tmp_path):
    judged = {"test": Judgements("p", {"exact_match": np.array([True, False])})}

    def script(job):
        write_judgements(job.folder / "judgements.json.gz", judged)
        return finishes(job)

    reproduce(tmp_path, Scripted(1, script), seeds=1)
    (line,) = read_ledgers(tmp_path / "results")
    assert line.judged["test"].right["exact_match"].tolist() == [True, False]


def test_what_another_process_recorded_meanwhile_is_not_recorded_again(tmp_path):
    def script(job):
        (tmp_path / "results").mkdir(exist_ok=True)
        with (tmp_path / "results" / "other.jsonl").open("a") as file:
            file.write(json.dumps(scripted_jobs.record(job)) + "\n")
        return finishes(job)

    assert {state for state, _ in reproduce(tmp_path, Scripted(1, script))} == {"done"}
    assert lines(tmp_path) == []


def test_headline():
    shares = {"execution_accuracy": 0.75, "execution_accuracy_released": 0.9, "well_formed": 1.0}
    test = {"exact_match": 0.5, "shares": shares, "scores": {}}
    assert headline({"test": test}) == "execution accuracy 75.0 %"
    with_grammar = {"test": test, "test_grammar": test | {"shares": {"tree_accuracy": 0.875}}}
    assert headline(with_grammar) == "tree accuracy 87.5 % with the grammar"
    assert headline({"test": {"exact_match": 0.5, "shares": {}}}) == "exact match 50.0 %"
    assert headline({"test": {"exact_match": 0.5, "scores": {"BLEU-4": 0.123}}}) == "BLEU-4 12.3"
