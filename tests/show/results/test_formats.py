import json
import re
from dataclasses import replace

import numpy as np
import pytest

from ftor.lab.ledger import LONG_FILE
from ftor.lab.lines import read_line
from ftor.lab.tables import tables as tables_of
from ftor.metrics.judgements import Judgements
from ftor.show.results.formats import as_json, as_latex, as_markdown, as_text
from ftor.show.results.layout import grids, notes, signed
from support.made_up_runs import metrics, mirror_run, of, parsing_run, style_run, tables


@pytest.fixture(scope="module")
def found():
    far = metrics(0.9, by_length=[{"length": 50, "count": 20, "exact_match": 0.9}])
    copied = style_run("style-adjective", 0, 0.4)["test"]
    return tables(
        [
            *(mirror_run("mirror", seed, share, {11: 1.0}) for seed, share in enumerate((1.0, 0.5))),
            of("mirror", 0) | {"file": LONG_FILE, "metrics": far},
            *(parsing_run("geo-iid", 0, 0.8, 0.9), parsing_run("geo-iid", 1, 0.6, 0.8)),
            parsing_run("geo-iid-paper", 0, 0.5, 0.7),
            parsing_run("atis-iid", 0, 0.5, 0.7),
            style_run("style-adjective", 0, 0.5),
            {"experiment": "copy the input", "seed": 0, "file": "AEM/test.tsv", "metrics": copied},
        ]
    )


@pytest.mark.parametrize(
    ("number", "shown"), [(1.25, "+1.2"), (-1.26, "−1.3"), (0.04, "0.0"), (-0.04, "0.0"), (0.0, "0.0")]
)
def test_differences_have_signs(number, shown):
    assert signed(number, 1) == shown


def test_cells(found):
    lines = grids(found["geo"])[0].lines
    values = ("88.6 ± 3.3", "70.0", "−18.6†", "85.0 ± 7.1", "−3.6")
    assert lines[0] == ("F→R", "iid", "with grammar", *values)
    assert lines[1][3:] == ("80.7 ± 2.3", "50.0", "−30.7†", "70.0 ± 14.1", "−10.7")
    assert lines[2] == ("F→R", "template", "with grammar", "79.9 ± 2.5", "not run", "–", "not run", "–")
    assert lines[-1] == ("AR F→R", "length", "without", "37.6 ± 1.8", "not run", "–", "not run", "–")


def test_cells_of_seeds(found):
    assert grids(found["geo"])[1].lines == [
        ("F→R", "iid", "with grammar", "paper's settings", "1", "70.0", "–", "no"),
        ("F→R", "iid", "with grammar", "as shipped", "2", "80.0", "–", "yes"),
        ("F→R", "iid", "without", "paper's settings", "1", "50.0", "–", "no"),
        ("F→R", "iid", "without", "as shipped", "2", "60.0", "–", "yes"),
    ]


def test_cells_of_details(found):
    shipped = ("35.0 ± 7.1", "72.0 ± 14.1", "87.0 ± 7.1", "0.25 ± 0.00", "50.0 ± 0.0", "1.5 ± 0.0")
    assert grids(found["geo"])[2].lines == [
        ("F→R", "iid", "paper's settings", "25.0", "52.0", "72.0", "0.25", "50.0", "1.5"),
        ("F→R", "iid", "as shipped", *shipped),
    ]


def test_intervals_are_shown():
    rights = [True, True, False, True] * 5
    judged = {"test": Judgements("p", {"execution_accuracy": np.array(rights)})}
    line = read_line(parsing_run("geo-iid", 0, 0.75)).model_copy(update={"judged": judged})
    table = tables_of([line])["geo"]
    assert grids(table)[1].lines[0][-2] == "55.0 – 90.0"
    values = json.loads(as_json([table]))["geo"]["rows"][0]["columns"]["none"]["shipped"]
    assert values["interval"] == pytest.approx([55.0, 90.0])


def test_runs_beyond_the_paper_have_a_column_where_there_are_some(found):
    assert "beyond" not in grids(found["geo"])[0].header
    records = [
        *(parsing_run("geo-iid", 0, 0.8, 0.9), parsing_run("geo-iid-beyond", 0, 0.9, 0.95)),
        parsing_run("geo-iid-beyond", 1, 0.8, 0.93),
    ]
    table = tables(records)["geo"]
    comparison, seeds, details = grids(table)[:3]
    assert comparison.header[-4:] == ("as shipped", "difference", "beyond", "difference")
    assert comparison.lines[0][-2:] == ("94.0 ± 1.4", "+5.4†")
    assert comparison.lines[2][-2:] == ("not run", "–")
    assert comparison.lines[-1][-2:] == ("–", "–"), "there is no such experiment"
    assert [line[3:6] for line in seeds.lines] == [
        *(("as shipped", "1", "90.0"), ("beyond", "2", "93.0")),
        *(("as shipped", "1", "80.0"), ("beyond", "2", "80.0")),
    ]
    assert [line[2] for line in details.lines] == ["as shipped", "beyond"]
    appendix, aims = grids(table)[3:5]
    assert appendix.header[-2:] == ("beyond", "difference")
    (exact,) = [line for line in appendix.lines if line[:3] == ("F→R", "iid", "exact match, grammar")]
    assert exact[-2:] == ("47.0 ± 0.7", "−36.4†")
    assert aims.header[0] == "split"
    assert aims.lines[0][2:] == ("93.3", "90.0", "94.0 ± 1.4", "93.0", "2", "92.0", "yes")
    assert aims.lines[1][3:] == ("not run", "not run", "–", "–", "89.0", "–")
    assert table.runs == 3
    values = json.loads(as_json([table]))["geo"]["rows"]
    assert values[0]["columns"]["none"]["beyond"]["mean"] == pytest.approx(85)
    assert values[0]["beyond"]["experiment"] == "geo-iid-beyond"
    assert values[3]["beyond"] is None
    assert (values[0]["aim"]["aim"], values[3]["aim"]) == (92, None)
    assert max(map(len, as_text(table).split("\n"))) <= 130


def test_aims_that_are_missed_and_numbers_that_are_roughly_known():
    records = [
        parsing_run("atis-length-beyond", 0, 0.2, 0.3),
        parsing_run("okapi-calendar-beyond", 0, 0.8, 0.819),
    ]
    found = {name: grids(table) for name, table in tables(records, ["atis", "okapi"]).items()}
    shown = {name: [line for line in grids[-1].lines if line[-1] != "–"] for name, grids in found.items()}
    numbers = ("not run", "30.00", "30.00", "1", "50.00", "no, −20.00")
    assert shown["atis"] == [("length", "35.41 ± 4.09", "≈ 41", *numbers)]
    assert shown["okapi"][0][2:] == ("≈ 74", "not run", "81.9", "81.9", "1", "82.0", "no, −0.1")


def test_a_table_without_aims_shows_runs_beyond_the_paper():
    table = tables([parsing_run("geo-iid-beyond", 0, 0.8)])["geo"]
    without = replace(table, rows=tuple(replace(row, aim=None) for row in table.rows))
    assert any("our aims" in grid.caption for grid in grids(table))
    assert not any("our aims" in grid.caption for grid in grids(without))


def test_parameters_that_are_trained_and_read():
    reader = {"name": "encoder", "parameters": 22_565_376, "trained": 0}
    records = [
        parsing_run("geo-iid", 0, 0.8),
        *(
            parsing_run("geo-iid-beyond", s, 0.8) | {"reader": reader, "parameters": 2_612_345}
            for s in (0, 1)
        ),
    ]
    grid = grids(tables(records)["geo"])[2]
    assert grid.header[-2:] == ("millions trained", "millions read")
    assert [line[-2:] for line in grid.lines] == [("–", "–"), ("2.61", "22.6")]


def test_atis_has_the_digits_of_the_paper(found):
    assert grids(found["atis"])[0].lines[0][3:] == ("74.15 ± 1.35", "not run", "–", "70.00", "−4.15†")


def test_a_model_that_the_paper_lacks(found):
    lines = grids(found["mirror"])[0].lines
    none = ("–", "as shipped", "–", "not run", "–")
    assert lines[-1] == ("Transformer, small", "unseen combinations", "test", *none)
    assert lines[0] == ("F→R", "length", "dev", "100.0", "not run", "–", "75.0 ± 35.4", "−25.0")


def test_a_model_that_cannot_be_run_here_says_why(found):
    (line,) = [line for line in grids(found["atis"])[0].lines if line[:2] == ("BART-base", "iid")]
    assert line[3:] == ("86.96 ± 1.26", "as shipped", "–", "weights not available here", "–")


def test_strings_far_beyond_training(found):
    assert grids(found["mirror"])[3].lines == [("50", "100", "20", "90.0", "1")]
    assert len(grids(found["geo"])) == 4


def test_trivial_outputs_stand_beside_scores(found):
    grid = grids(found["style"])[0]
    assert grid.header[-2:] == ("copy the input", "copy all but the last word")
    (line,) = [line for line in grid.lines if line[1:3] == ("adjective emphasis", "CIDEr")]
    assert line[3:] == ("4.268 ± 0.170", "as shipped", "–", "5.000", "+0.732", "4.000", "not run")


def test_notes(found):
    assert notes(found["atis"]) == [
        "†: the seeds do not explain the difference to the paper (p < 0.05).",
        "Total time: 0.0 hours, 1 run.",
        "Not run: F→R (length); LSTM (iid, length); Transformer (iid, length).",
        "Weights not available here: BART-base (iid, length); Marian (iid, length).",
        "Not run with the paper's settings: F→R (iid, length).",
        "Fewer seeds than the paper's 5: F→R (iid 1).",
    ]
    assert notes(found["geo"])[-1] == "Fewer seeds with the paper's settings: F→R (iid 1)."
    assert notes(found["mirror"])[0].startswith("Total time"), "no difference is more than chance"


def test_a_table_without_runs():
    (table,) = tables([], ["okapi"]).values()
    assert len(grids(table)) == 2, "the paper's numbers, and those of its appendix"
    assert notes(table)[1:] == [
        "Not run: F→R (calendar, document, email).",
        "Weights not available here: BART-base (calendar, document, email); Marian (calendar, document).",
        "Not run with the paper's settings: F→R (calendar, document, email).",
    ]


def test_what_the_line_above_says_is_left_out(found):
    first, *_ = grids(found["geo"])[0].sections()
    assert [line[:3] for line in first[:3]] == [
        ("F→R", "iid", "with grammar"),
        ("", "", "without"),
        ("", "template", "with grammar"),
    ]
    sections = grids(found["style"])[0].sections()
    assert [len(section) for section in sections] == [7, 7, 7], "a single model: by split"
    assert sections[1][0][:3] == ("F→R", "adjective emphasis", "BLEU-1")


def test_text(found):
    lines = as_text(found["geo"]).split("\n")
    assert lines[0] == "Geoquery: execution accuracy, percent"
    (line,) = [line for line in lines if "−3.6" in line]
    values = "88.6 ± 3.3 70.0 −18.6† 85.0 ± 7.1 −3.6"
    assert " ".join(line.split()) == f"F→R iid with grammar {values}"
    assert not [line for line in lines if line != line.rstrip()]
    assert lines[-2].endswith("Fewer seeds than the paper's 5: F→R (iid 2).")


@pytest.mark.parametrize("name", ["mirror", "geo", "atis", "okapi", "style"])
def test_text_fits_a_wide_terminal(found, name):
    assert max(map(len, as_text(found[name]).split("\n"))) <= 130


@pytest.mark.parametrize("name", ["mirror", "geo", "atis", "okapi", "style"])
def test_markdown_has_the_same_columns_in_every_line(found, name):
    parts = re.findall(r"(?:^\|.*\n?)+", as_markdown(found[name]), re.M)
    shown = grids(found[name])
    assert len(parts) == len(shown)
    for part, grid in zip(parts, shown, strict=True):
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.strip().splitlines()]
        assert {len(row) for row in rows} == {len(grid.header)}
        assert tuple(rows[0]) == grid.header
        assert set("".join(rows[1])) == {"-", ":"}
        assert len(rows) == 2 + len(grid.lines)
        values = [tuple(row[grid.keys :]) for row in rows[2:]]
        assert values == [line[grid.keys :] for line in grid.lines]


@pytest.mark.parametrize("name", ["mirror", "geo", "atis", "okapi", "style"])
def test_latex_is_balanced_and_plain(found, name):
    text = as_latex(found[name])
    assert text.isascii()
    begun, ended = (re.findall(rf"\\{word}\{{(\w+)\}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert text.count("$") % 2 == 0
    for grid, part in zip(grids(found[name]), text.split("\n\n"), strict=True):
        (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", part)
        lines = [line for line in part.split("\n") if line.endswith(r" \\")]
        assert {len(re.split(r"(?<!\\)&", line)) for line in lines} == {len(columns)} == {len(grid.header)}
        assert len(lines) == 1 + len(grid.lines)
        for rule in ("toprule", "midrule", "bottomrule"):
            assert part.count(f"\\{rule}") == 1


def test_latex_has_symbols_as_mathematics(found):
    text = as_latex(found["geo"])
    numbers = r"88.6 $\pm$ 3.3 & 70.0 & $-$18.6$\dagger$ & 85.0 $\pm$ 7.1 & $-$3.6"
    assert rf"F$\to$R & iid & with grammar & {numbers} \\" in text.split("\n")
    assert "template & with grammar & 79.9 $\\pm$ 2.5 & not run & -- & not run & --" in text
    assert r"\footnotesize Fewer seeds than the paper's 5: F$\to$R (iid 2)." in text


def test_latex_escapes():
    from ftor.show.results.formats import _escaped

    assert _escaped("50 % of a_b & {c} #1 $2 \\ ~ ^") == (
        r"50 \% of a\_b \& \{c\} \#1 \$2 \textbackslash{} \textasciitilde{} \textasciicircum{}"
    )


def test_json_has_every_digit(found):
    values = json.loads(as_json(found.values()))
    assert list(values) == ["mirror", "geo", "atis", "okapi", "style"]
    geo = values["geo"]
    row = geo["rows"][0]
    assert (row["model"], row["split"], row["missing"]) == ("F→R", "iid", None)
    assert (row["shipped"]["experiment"], row["shipped"]["seeds"]) == ("geo-iid", [0, 1])
    assert (row["released"]["experiment"], row["released"]["seeds"]) == ("geo-iid-paper", [0])
    ours = row["columns"]["grammar"]["shipped"]
    seeds = {"n": 2, "values": [90.0, 80.0], "worst": 80.0, "interval": None}
    compared = {"difference": 85.0 - 88.6, "within_chance": True}
    assert ours == {"mean": 85.0, "deviation": pytest.approx(7.0710678118)} | seeds | compared
    assert row["columns"]["grammar"]["released"]["mean"] == 70.0
    assert row["columns"]["grammar"]["paper"] == {"mean": 88.6, "deviation": 3.3}
    assert row["shipped"]["details"]["minutes"]["mean"] == 1.5
    assert (geo["runs"], geo["paper_seeds"], geo["hours"]) == (3, 5, 0.075)
    assert geo["fewer_seeds"] == {"geo-iid": 2}
    assert len(geo["not_run"]) == 8
    not_run = geo["rows"][1]["columns"]["none"]
    assert (not_run["shipped"], not_run["released"]) == (None, None)
    assert values["mirror"]["far_beyond"] == [
        {"length": 50, "strings": 20, "ours": {"mean": 90.0, "deviation": None, "n": 1, "values": [90.0]}}
    ]
    style = values["style"]["rows"][1]["columns"]["BLEU-1"]
    assert style["trivial"] == {"copy the input": 40.0, "copy all but the last word": None}
