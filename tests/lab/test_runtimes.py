from ftor.config import Config, shipped
from ftor.lab.lines import read_line
from ftor.lab.runtimes import PAPER, runtime_table
from support.made_up_runs import parsing_run


def runs(*records):
    return [read_line(record | {"epochs": epochs}) for record, epochs in records]


def row(lines, dataset, model="F→R"):
    (found,) = [r for r in runtime_table(lines).rows if (r.paper.dataset, r.paper.model) == (dataset, model)]
    return found


def test_every_row_is_of_shipped_experiments():
    assert {name for paper in PAPER for name in paper.experiments} <= {*shipped()}
    assert len(PAPER) == 20


def test_runs_on_all_splits_are_averaged_as_in_the_paper():
    slow = parsing_run("geo-length", 0, 0.5) | {"seconds": 150.0}
    found = row(runs((parsing_run("geo-iid", 0, 0.5), 100), (slow, 90)), "Geoquery")
    assert (found.paper.epochs, found.paper.minutes) == (100, 20)
    assert found.shipped.minutes.mean == (1.5 + 3.0) / 2
    assert found.shipped.epochs.values == (100, 90)
    assert (found.released, found.one_setting) == (None, False)


def test_the_papers_settings_have_times_of_their_own():
    found = row(runs((parsing_run("atis-iid-paper", 0, 0.5), 100)), "ATIS")
    assert (found.released.minutes.mean, found.shipped) == (1.5, None)
    assert row([], "ATIS", "LSTM").one_setting


def test_runs_with_other_settings_do_not_count():
    assert row(runs((parsing_run("geo-iid", 0, 0.5) | {"config": "other"}, 9)), "Geoquery").shipped is None


def test_transformers_on_atis_train_as_long_as_in_the_paper():
    for paper in PAPER:
        if paper.model == "Transformer":
            assert {Config.load(name).training.epochs for name in paper.experiments} == {paper.epochs}
