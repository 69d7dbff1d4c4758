"""The tables of results, and that the page shows what the ledgers say."""

import json
from pathlib import Path

import pytest

from ftor.config import Config
from ftor.errors import FtorError
from ftor.results import (
    LONG_FILE,
    STYLE_SCORES,
    mirror_tables,
    parsing_table,
    read_ledgers,
    style_table,
    tables,
)

ROOT = Path(__file__).parents[1]


def run(experiment: str, seed: int, dev: float, by_length: dict[int, float]) -> dict:
    groups = [{"length": n, "count": 10 * n, "exact_match": share} for n, share in by_length.items()]
    right = sum(group["count"] * group["exact_match"] for group in groups)
    test = {"exact_match": right / sum(group["count"] for group in groups), "by_length": groups}
    config = Config.load(experiment).hash
    return {
        "experiment": experiment,
        "seed": seed,
        "config": config,
        "dev": {"exact_match": dev},
        "test": test,
    }


def test_rows_are_means_over_seeds_beside_the_paper():
    records = [
        run("mirror", 0, 1.0, {11: 1.0, 12: 0.5, 13: 0.0, 14: 1.0, 15: 0.0}),
        run("mirror", 1, 0.5, {11: 0.0, 12: 0.5, 13: 0.0, 14: 1.0, 15: 0.0}),
        run("mirror-xyz", 0, 1.0, {3: 0.25}),
    ]
    lines = mirror_tables(records).split("\n")
    assert lines[2] == "| F→R | paper | 5 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 79.9 |"
    assert lines[3] == (
        "| F→R | ftor | 2, 1 | 75.0 ± 35.4 | 50.0 ± 70.7 | 50.0 ± 0.0 | 0.0 ± 0.0 | 48.3 ± 0.0 | 25.0 |"
    )
    assert lines[5].count("not run") == 6


def test_long_inputs_are_a_table_of_their_own():
    metrics = {"by_length": [{"length": 50, "count": 20, "exact_match": 0.9}]}
    config = Config.load("mirror").hash
    record = {"experiment": "mirror", "seed": 0, "config": config, "file": LONG_FILE, "metrics": metrics}
    assert mirror_tables([record]).endswith("| 50 | 100 | 20 | 1 | 90.0 |")


def test_runs_with_other_settings_do_not_count():
    other = run("mirror", 0, 1.0, {11: 1.0}) | {"config": Config.load("mirror", ["epochs=1"]).hash}
    assert mirror_tables([other]).split("\n")[3].count("not run") == 6


def test_a_later_line_replaces_an_earlier_one(tmp_path):
    lines = [{"experiment": "a", "seed": 0, "x": 1}, {"experiment": "a", "seed": 0, "x": 2}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_ledgers(tmp_path) == [lines[1]]


def test_a_trial_with_other_settings_replaces_nothing(tmp_path):
    shipped = run("mirror", 0, 1.0, {11: 1.0})
    lines = [shipped, shipped | {"config": "other"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert mirror_tables(read_ledgers(tmp_path)) == mirror_tables([shipped])


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"experiment": "a", "seed": 0}\n{"experi')
    with pytest.raises(FtorError, match=r"a.jsonl:2: expected the record of a run"):
        read_ledgers(tmp_path)
    with pytest.raises(FtorError, match="expected a folder of ledgers"):
        tables(tmp_path / "none")


def parsed(experiment: str, seed: int, without: float, with_grammar: float | None) -> dict:
    def test(share: float) -> dict:
        shares = {"execution_accuracy": share, "well_formed": 0.5}
        return {"exact_match": share / 2, "length_error": 0.25, "shares": shares}

    record = {"experiment": experiment, "seed": seed, "config": Config.load(experiment).hash, "seconds": 60.0}
    constrained = {} if with_grammar is None else {"test_grammar": test(with_grammar)}
    return record | {"dev_seconds": 30.0, "test": test(without)} | constrained


def test_parsing_is_shown_with_and_without_grammar():
    records = [
        parsed("geo-iid", 0, 0.8, 0.9),
        parsed("geo-iid", 1, 0.6, 0.8),
        parsed("geo-length-ar", 0, 0.4, None),
    ]
    lines = parsing_table(records, "Geoquery").split("\n")
    assert lines[2] == (
        "| F→R | iid | 2 | 88.6 | 85.0 ± 7.1 | 80.7 | 70.0 ± 14.1 | 35.0 ± 7.1 | 0.25 ± 0.00 | 50.0 ± 0.0 "
        "| 1.5 ± 0.0 |"
    )
    assert lines[3].count("not run") == 6
    assert lines[10] == "| AR F→R | length | 1 | – | – | 37.6 | 40.0 | 20.0 | 0.25 | 50.0 | 1.5 |"


def test_baselines_stand_beside_the_paper():
    lines = mirror_tables([run("mirror-lstm", 0, 1.0, {11: 0.5})]).split("\n")
    assert lines[10] == "| LSTM | paper | 5 | 100.0 | 94.3 | 67.9 | 6.9 | 0.0 | 0.1 |"
    assert lines[11] == "| LSTM | ftor | 1, 0 | 100.0 | 50.0 | nan | nan | nan | not run |"
    assert lines[14].startswith("| Transformer, small | ftor | 0, 0 | not run |"), "the paper has none"


def test_what_has_no_grammar_is_not_judged_by_one():
    record = parsed("okapi-email-bart", 0, 0.4, None)
    record["test"]["shares"] = {"clause_accuracy": 0.25}
    lines = parsing_table([record], "Okapi").split("\n")
    assert lines[7] == "| BART-base | email | 1 | – | – | 20.5 | 25.0 | 20.0 | 0.25 | – | 1.5 |"


def style_run(experiment: str, seed: int, score: float, without: tuple[str, ...] = ()) -> dict:
    scores = {name: score * (10 if name == "CIDEr" else 1) for name in STYLE_SCORES if name not in without}
    record = {"experiment": experiment, "seed": seed, "config": Config.load(experiment).hash, "seconds": 60.0}
    return record | {"dev_seconds": 30.0, "test": {"scores": scores}}


def test_style_is_shown_beside_the_paper_and_copies_of_the_input():
    copied = style_run("style-adjective", 0, 0.4)["test"]
    copies = {"experiment": "copy the input", "seed": 0, "file": "AEM/test.tsv", "metrics": copied}
    records = [
        style_run("style-adjective", 0, 0.5),
        style_run("style-adjective", 1, 0.6, without=("METEOR",)),
        copies,
        copies | {"file": "other.tsv", "metrics": style_run("style-verb", 0, 0.9)["test"]},
    ]
    lines = style_table(records).split("\n")
    assert lines[6] == (
        "| adjective emphasis | F→R, paper | 3 | 78.3 ± 1.4 | 61.9 ± 0.7 | 49.9 ± 1.3 | 40.5 ± 1.4 "
        "| 43.0 ± 1.0 | 69.1 ± 0.6 | 4.268 ± 0.170 | – |"
    )
    assert lines[7] == (
        "| adjective emphasis | F→R, ftor | 2 | 55.0 ± 7.1 | 55.0 ± 7.1 | 55.0 ± 7.1 | 55.0 ± 7.1 | 50.0 "
        "| 55.0 ± 7.1 | 5.500 ± 0.707 | 1.5 ± 0.0 |"
    )
    assert lines[8] == (
        "| adjective emphasis | copy the input | – | 40.0 | 40.0 | 40.0 | 40.0 | 40.0 | 40.0 | 4.000 | – |"
    )
    assert lines[9].count("not run") == 7
    assert lines[3].count("not run") == 8


@pytest.mark.parametrize("task", tables(ROOT / "results"))
def test_the_page_is_up_to_date_with_the_ledgers(task):
    page = (ROOT / "docs" / "RESULTS.md").read_text("utf-8")
    shown = page.split(f"<!-- ftor results: {task} -->\n")[1].split("<!-- end -->")[0]
    assert shown.strip() == tables(ROOT / "results")[task], "put what `ftor results` prints into RESULTS.md"
