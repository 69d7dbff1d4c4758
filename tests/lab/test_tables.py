import math
import statistics

import numpy as np
import pytest

from ftor.errors import FtorError
from ftor.lab.ledger import LONG_FILE
from ftor.lab.lines import read_line
from ftor.lab.measured import Measured, measured
from ftor.lab.paper import STYLE_SCORES, TABLES, PaperNumber
from ftor.lab.tables import tables as tables_of
from ftor.metrics.judgements import Judgements
from ftor.metrics.significance import bootstrap
from support.made_up_runs import metrics, mirror_run, of, parsing_run, style_run, tables


def row(table, experiment):
    (found,) = [row for row in table.rows if row.shipped.experiment == experiment]
    return found


def columns(table, experiment):
    return {found.column: found for found in row(table, experiment).comparisons}


def test_every_row_of_the_paper_has_a_row():
    found = tables([])
    assert list(found) == list(TABLES)
    for name, table in found.items():
        wanted = {(row.model, row.split): dict(row.numbers) for row in TABLES[name].rows}
        papers = {
            (row.model, row.split): {c.column: c.paper for c in row.comparisons if c.paper is not None}
            for row in table.rows
        }
        assert papers == wanted


def test_mean_and_deviation():
    found = Measured((1.0, 2.0, 6.0))
    assert (found.mean, found.n) == (3.0, 3)
    assert found.deviation == pytest.approx(math.sqrt((4 + 1 + 9) / 2)), "of a sample"
    assert Measured((4.0,)).deviation is None
    assert measured([None, 2.0]) == Measured((2.0,))
    assert measured([None]) is None


def test_mirror_by_length_beside_the_paper():
    records = [
        mirror_run("mirror-ar-rf", 0, 1.0, {11: 1.0, 12: 0.5, 14: 1.0, 15: 0.0}),
        mirror_run("mirror-ar-rf", 1, 0.5, {11: 0.0, 12: 0.5, 14: 1.0, 15: 0.0}),
        mirror_run("mirror-xyz-ar-rf", 0, 1.0, {3: 0.25}),
    ]
    table = tables(records, ["mirror"])["mirror"]
    found = columns(table, "mirror-ar-rf")
    assert found["dev"].ours == Measured((100.0, 50.0))
    assert found["dev"].ours.deviation == pytest.approx(35.355339)
    assert (found["dev"].paper, found["dev"].difference) == (PaperNumber(90.0), -15.0)
    assert found["11"].ours == Measured((100.0, 0.0))
    assert found["11"].difference == pytest.approx(50 - 85.7)
    assert found["13"].ours is None, "there are no strings of that length"
    assert found["13"].difference is None
    assert found["14–20"].ours.values == pytest.approx((100 * 140 / 290,) * 2), "as many as there are strings"
    assert columns(table, "mirror-xyz-ar-rf")["test"].difference == pytest.approx(25 - 1.2)


def test_runs_with_other_settings_do_not_count():
    other = mirror_run("mirror", 0, 1.0, {11: 1.0}) | {"config": "other"}
    table = tables([other])["mirror"]
    assert row(table, "mirror").shipped.seeds == ()
    assert table.runs == 0


def test_what_has_not_been_run_and_what_has_fewer_seeds():
    records = [mirror_run("mirror", seed, 1.0, {11: 1.0}) for seed in range(5)]
    records += [mirror_run("mirror-xyz", seed, 1.0, {11: 1.0}) for seed in (0, 7)]
    table = tables(records)["mirror"]
    assert len(table.not_run) == len(TABLES["mirror"].rows) - 2
    assert [(row.shipped.experiment, row.shipped.seeds) for row in table.fewer_seeds] == [
        ("mirror-xyz", (0, 7))
    ]
    assert (table.runs, table.paper_seeds) == (7, 5)
    assert table.hours == pytest.approx(7 * 120 / 3600)


def test_strings_far_beyond_training():
    groups = [
        {"length": 50, "count": 20, "exact_match": 0.9},
        {"length": 30, "count": 10, "exact_match": 1.0},
    ]
    records = [of("mirror", 0) | {"file": LONG_FILE, "metrics": metrics(0.9, by_length=groups)}]
    groups = [groups[0] | {"exact_match": 0.8}]
    records.append(of("mirror", 1) | {"file": LONG_FILE, "metrics": metrics(0.9, by_length=groups)})
    found = tables(records)["mirror"].far_beyond
    assert [(far.x, far.examples, far.ours.values) for far in found] == [
        (30, 10, (100.0,)),
        (50, 20, (90.0, 80.0)),
    ]
    assert tables(records)["geo"].far_beyond == ()


def test_parsing_with_and_without_grammar():
    records = [
        parsing_run("geo-iid", 0, 0.8, 0.9),
        parsing_run("geo-iid", 1, 0.6, 0.8),
        parsing_run("geo-length-ar", 0, 0.4),
    ]
    table = tables(records)["geo"]
    found = columns(table, "geo-iid")
    assert found["grammar"].ours.mean == pytest.approx(85)
    assert found["grammar"].ours.deviation == pytest.approx(7.0710678)
    assert found["grammar"].paper == PaperNumber(88.6, 3.3)
    assert found["grammar"].difference == pytest.approx(-3.6)
    assert found["none"].difference == pytest.approx(70 - 80.7)
    details = row(table, "geo-iid").shipped.details
    assert {name: value.mean for name, value in details.items() if value} == pytest.approx(
        {
            "exact match": 35.0,
            "as released": 72.0,
            "as released, grammar": 87.0,
            "length error": 0.25,
            "well-formed": 50.0,
            "minutes": 1.5,
        }
    )
    assert row(table, "geo-iid").shipped.seconds == 180.0
    assert list(columns(table, "geo-length-ar")) == ["none"], "the paper has it without grammar only"
    assert table.hours == pytest.approx(270 / 3600)


@pytest.mark.parametrize(("experiment", "accuracy"), [("atis-iid", "atis"), ("okapi-email", "okapi")])
def test_each_dataset_has_its_accuracy(experiment, accuracy):
    found = columns(tables([parsing_run(experiment, 0, 0.25, 0.5)])[accuracy], experiment)
    assert [found[name].ours for name in ("grammar", "none")] == [Measured((50.0,)), Measured((25.0,))]


def test_what_has_no_grammar_is_not_judged_by_one():
    record = parsing_run("okapi-email-bart", 0, 0.4)
    del record["test"]["shares"]["well_formed"]
    assert row(tables([record])["okapi"], "okapi-email-bart").shipped.details["well-formed"] is None


def test_style_beside_the_paper_and_copies_of_the_input():
    copied = style_run("style-adjective", 0, 0.4)["test"]
    copies = {"experiment": "copy the input", "seed": 0, "file": "AEM/test.tsv", "metrics": copied}
    records = [
        style_run("style-adjective", 0, 0.5),
        style_run("style-adjective", 1, 0.6, without=("METEOR",)),
        copies,
        copies | {"file": "other.tsv", "metrics": style_run("style-verb", 0, 0.9)["test"]},
    ]
    table = tables(records)["style"]
    found = columns(table, "style-adjective")
    assert tuple(found) == STYLE_SCORES
    assert found["BLEU-4"].ours.mean == pytest.approx(55)
    assert found["BLEU-4"].ours.deviation == pytest.approx(statistics.stdev([50, 60]))
    assert found["METEOR"].ours.values == pytest.approx((50,)), "the other seed had no Java"
    assert found["CIDEr"].ours.mean == pytest.approx(5.5), "which is up to 10"
    assert found["CIDEr"].difference == pytest.approx(5.5 - 4.268)
    assert found["BLEU-1"].trivial == {"copy the input": 40.0, "copy all but the last word": None}
    assert found["CIDEr"].trivial["copy the input"] == pytest.approx(4)
    assert columns(table, "style-verb")["BLEU-1"].trivial["copy the input"] is None
    assert table.paper_seeds == 3


def test_unknown_names_are_refused():
    with pytest.raises(FtorError, match="Geo: no such table; the tables are mirror, geo, atis, okapi, style"):
        tables([], ["Geo"])


def test_a_folder_or_its_records(tmp_path):
    assert list(tables_of(tmp_path, ["geo"])) == list(tables_of(str(tmp_path), ["geo"])) == ["geo"]


def test_no_folder_is_an_error(tmp_path):
    with pytest.raises(FtorError, match="none: no such folder"):
        tables_of(tmp_path / "none")


def test_three_columns():
    records = [parsing_run("geo-iid", seed, 0.8, 0.9) for seed in (0, 1)]
    records += [parsing_run("geo-iid-paper", seed, share, 0.6) for seed, share in enumerate((0.5, 0.3, 0.4))]
    table = tables(records)["geo"]
    found = columns(table, "geo-iid")["none"]
    assert found.paper == PaperNumber(80.7, 2.3)
    assert found.released.values == pytest.approx((50, 30, 40))
    assert (found.released.worst, found.ours.worst) == pytest.approx((30, 80))
    assert found.difference_of(found.released) == pytest.approx(40 - 80.7)
    assert row(table, "geo-iid").released.seeds == (0, 1, 2)
    assert (table.runs, table.hours) == (5, pytest.approx(5 * 90 / 3600))
    released = [row.released.experiment for row in table.not_run_released]
    assert len(released) == 8
    assert "geo-iid-paper" not in released


def test_a_row_without_settings_of_its_own_has_the_same_runs_twice():
    found = tables([mirror_run("mirror-lstm", 0, 1.0, {11: 0.5})])["mirror"]
    assert row(found, "mirror-lstm").released is None
    dev = columns(found, "mirror-lstm")["dev"]
    assert dev.released == dev.ours == Measured((100.0,))
    assert found.runs == 1, "not counted twice"


@pytest.mark.parametrize(
    ("shares", "within"),
    [
        ((0.88, 0.90, 0.87), True),
        ((0.60, 0.61, 0.62), False),
        ((0.85,), True),  # the paper's deviation of 3.3 holds for one run too
        ((0.75,), False),
    ],
)
def test_whether_seeds_explain_the_difference(shares, within):
    records = [parsing_run("geo-iid", seed, 0.8, share) for seed, share in enumerate(shares)]
    found = columns(tables(records)["geo"], "geo-iid")["grammar"]
    assert found.within_chance(found.ours) is within
    assert found.within_chance(None) is None


def test_without_deviations_nothing_is_known_but_equal_numbers():
    by_length = {11: 0.857, 12: 0.5}
    found = columns(tables([mirror_run("mirror-ar-rf", 0, 1.0, by_length)])["mirror"], "mirror-ar-rf")
    assert found["11"].within_chance(found["11"].ours) is True
    assert found["12"].within_chance(found["12"].ours) is None


def judged_runs(rights, pairs=("p", "p")):
    lines = []
    for seed, (right, digest) in enumerate(zip(rights, pairs, strict=True)):
        line = read_line(parsing_run("geo-iid", seed, sum(right) / len(right)))
        judged = {"test": Judgements(digest, {"execution_accuracy": np.array(right, bool)})}
        lines.append(line.model_copy(update={"judged": judged}))
    return lines


def test_intervals_come_from_the_judgements_of_all_seeds():
    rights = [1, 1, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1, 0, 0]
    lines = judged_runs(rights)
    found = columns(tables_of(lines)["geo"], "geo-iid")["none"].ours.interval
    expected = bootstrap(np.mean(rights, 0))
    assert (found.low, found.high) == pytest.approx((100 * expected.low, 100 * expected.high))
    without = [lines[0], read_line(parsing_run("geo-iid", 1, 0.5))]
    assert columns(tables_of(without)["geo"], "geo-iid")["none"].ours.interval is None
    others = judged_runs(rights, pairs=("p", "q"))
    assert columns(tables_of(others)["geo"], "geo-iid")["none"].ours.interval is None, "other pairs"


def test_intervals_of_lengths_come_from_the_lengths_of_the_sources():
    line = read_line(mirror_run("mirror", 0, 1.0, {11: 0.5, 12: 0.25}))
    right = {"exact_match": np.array([True, False, False, True] * 5)}
    lengths = (11, 11, 12, 12) * 5

    def found(judged):
        table = tables_of([line.model_copy(update={"judged": {"test": judged}})])["mirror"]
        return columns(table, "mirror")

    interval = found(Judgements("p", right, lengths))["11"].ours.interval
    expected = bootstrap(right["exact_match"][np.array(lengths) == 11])
    assert interval == pytest.approx([100 * value for value in expected])
    assert found(Judgements("p", right, lengths))["13"].ours is None
    assert found(Judgements("p", right))["11"].ours.interval is None, "an older file"


def test_the_appendix_beside_the_paper():
    record = parsing_run("atis-length", 0, 0.3, 0.4)
    record |= {"dev": record["test"] | {"shares": {"tree_accuracy": 0.5}}}
    (row,) = [row for row in tables([record])["atis"].rows if row.shipped.seeds]
    found = {each.column: each for each in row.appendix}
    assert {name: each.ours.mean for name, each in found.items()} == pytest.approx(
        {"dev": 50.0, "length error": 0.25}
    )
    assert found["length error"].paper == PaperNumber(1.49, 0.18)
    assert found["length error"].within_chance(found["length error"].ours) is False
    exact = tables([parsing_run("geo-iid", 0, 0.8, 0.9)])["geo"].rows[0].appendix
    assert {each.column: each.ours and each.ours.mean for each in exact} == {
        **{"dev": None, "exact match, grammar": 45.0, "exact match": 40.0}
    }
    style = style_run("style-verb", 0, 0.5)
    style |= {"dev": style["test"]}
    (row,) = [row for row in tables([style])["style"].rows if row.shipped.seeds]
    scores = {each.column: each.ours.mean for each in row.appendix}
    assert (scores["dev BLEU-1"], scores["dev CIDEr"]) == pytest.approx((50, 5))


def test_okapi_by_parameters():
    group = {"name": "parameters", "value": 5, "count": 20, "exact_match": 0.1, "share": 0.75}
    record = parsing_run("okapi-document", 0, 0.5, 0.6)
    record["test_grammar"] = record["test_grammar"] | {"by_group": [group]}
    found = tables([record])["okapi"].by_parameters
    assert [(p.x, p.ours.values, p.examples) for p in found["grammar"]] == [(5, (75.0,), 20)]
    assert found["none"] == ()
