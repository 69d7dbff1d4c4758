import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ftor.config import Config
from ftor.errors import FtorError
from ftor.lab.ledger import LONG_FILE, read_ledgers
from ftor.lab.lines import TIME_BY_LENGTH, read_line
from ftor.lab.paper import PaperNumber
from ftor.lab.series import (
    Span,
    Timing,
    accuracy_by_length,
    accuracy_by_parameters,
    fingerprint,
    time_by_length,
    training_curves,
)
from ftor.show.progress import TerminalReport
from support.made_up_runs import metrics, mirror_run, of, parsing_run
from support.tiny import run_here

ROOT = Path(__file__).parents[3]
QUIET = TerminalReport(quiet=True)


def okapi_run(seed, dev, test):
    record = parsing_run("okapi-document", seed, 0.5, 0.5)

    def of_groups(shares):
        group = {"name": "parameters", "count": 10, "exact_match": 0.0}
        return record["test"] | {"by_group": [group | {"value": n, "share": s} for n, s in shares.items()]}

    splits = {"dev": dev, "test": test}
    return record | {
        f"{name}{suffix}": of_groups(s) for name, s in splits.items() for suffix in ("", "_grammar")
    }


def times(seconds, **other):
    found = [{"length": 10, "seconds": seconds}, {"length": 20, "seconds": 2 * seconds}]
    return of("mirror", 0) | {"kind": TIME_BY_LENGTH, "times": found} | other


WRITTEN = [
    mirror_run("mirror", 0, 1.0, {11: 1.0, 12: 0.5}),
    mirror_run("mirror", 1, 0.5, {11: 1.0, 12: 0.0}),
    of("mirror", 0)
    | {
        "file": LONG_FILE,
        "metrics": metrics(1.0, by_length=[{"length": 30, "count": 9, "exact_match": 1.0}]),
    },
    okapi_run(0, {4: 0.75}, {5: 0.5, 6: 0.25}),
    okapi_run(1, {4: 0.25}, {5: 0.5, 6: 0.75}),
    times(0.1),
]
RECORDS = [read_line(record) for record in WRITTEN]


def run_folder(runs, name, seed, values, metric="dev_execution_accuracy", **changes):
    folder = runs / f"{name}-{seed}"
    folder.mkdir(parents=True)
    overrides = [f"training.seed={seed}", *(f"{key}={value}" for key, value in changes.items())]
    (folder / "config.toml").write_text(Config.load(name, overrides).to_toml(), "utf-8")
    lines = [json.dumps({"epoch": epoch, metric: value}) for epoch, value in enumerate(values, 1)]
    (folder / "log.jsonl").write_text("\n".join(lines), "utf-8")


def test_accuracy_by_length():
    series = {line.model: line for line in accuracy_by_length(RECORDS)}
    assert [(p.x, p.ours.values, p.examples) for p in series["F→R"].points] == [
        (10, (100.0, 50.0), 200),
        (11, (100.0, 100.0), 110),
        (12, (50.0, 0.0), 120),
        (30, (100.0,), 9),
    ]
    assert series["LSTM"].points == ()
    assert series["LSTM"].paper == (
        *(Span(10, 10, PaperNumber(100.0)), Span(11, 11, PaperNumber(94.3)), Span(12, 12, PaperNumber(67.9))),
        *(Span(13, 13, PaperNumber(6.9)), Span(14, 20, PaperNumber(0.0))),
    )
    assert series["Transformer, small"].paper == ()


def test_accuracy_by_parameters():
    found = accuracy_by_parameters(RECORDS)
    assert {name: [line.model for line in lines] for name, lines in found.items()} == {
        "grammar": ["F→R"],
        "none": ["F→R", "BART-base"],
    }
    (ours,) = found["grammar"]
    assert [(p.x, p.ours.values) for p in ours.points] == [
        (4, (75.0, 25.0)),
        (5, (50.0, 50.0)),
        (6, (25.0, 75.0)),
    ]
    assert ours.paper == (Span(5, 7, PaperNumber(42.4, 5.7)),)
    assert found["none"][0].paper == (Span(4, 4, PaperNumber(66.1, 4.8)), Span(5, 7, PaperNumber(36.1, 5.6)))


def test_time_by_length():
    assert time_by_length([*RECORDS, read_line(times(0.3, config="other"))]) == [
        Timing("mirror", (10, 20), (0.1, 0.2))
    ]


def test_training_curves(tmp_path):
    run_folder(tmp_path, "geo-iid", 1, [0.5, 0.25])
    run_folder(tmp_path, "geo-iid", 0, [0.0, 0.75, 1.0])
    run_folder(tmp_path, "geo-length-ar", 0, [0.5])
    run_folder(tmp_path, "geo-template", 0, [0.5], **{"training.epochs": 3})
    run_folder(tmp_path, "okapi-email", 0, [0.5], metric="dev_clause_accuracy")
    found = training_curves(tmp_path, "geo", QUIET)
    assert [(curve.model, curve.split, curve.seeds) for curve in found] == [
        ("F→R", "iid", {0: (0.0, 75.0, 100.0), 1: (50.0, 25.0)}),
        ("AR F→R", "length", {0: (50.0,)}),
    ], "as shipped, and of that table"
    assert training_curves(tmp_path / "none", "geo", QUIET) == []


def test_a_bad_log_is_named_and_a_strange_folder_left_out(tmp_path, capsys):
    run_folder(tmp_path, "geo-iid", 0, [0.5], metric="dev_other")
    with pytest.raises(FtorError, match=r"log.jsonl:1: not the record of an epoch with dev_execution_acc"):
        training_curves(tmp_path, "geo", QUIET)
    (tmp_path / "geo-iid-0" / "config.toml").write_text('name = "geo-iid"\nnew = 1\n')
    assert training_curves(tmp_path, "geo", TerminalReport()) == []
    assert "geo-iid-0 is left out" in capsys.readouterr().err


def test_fingerprints_tell_numbers_apart():
    series = accuracy_by_length(RECORDS)
    assert fingerprint(series) == fingerprint(accuracy_by_length(RECORDS))
    assert fingerprint(series) != fingerprint(accuracy_by_length(RECORDS[:1]))
    assert fingerprint([0.1 + 0.2]) == fingerprint((0.3,))


def test_the_command_draws(tmp_path):
    ledgers, runs, figures = (tmp_path / name for name in ("ledgers", "runs", "figures"))
    ledgers.mkdir()
    (ledgers / "all.jsonl").write_text("".join(json.dumps(record) + "\n" for record in WRITTEN))
    run_folder(runs, "geo-iid", 0, [0.5, 1.0])
    finished = run_here("results", "--ledgers", ledgers, "--runs", runs, "--figures", figures)
    assert finished.code == 0, finished.err
    names = ["mirror-by-length", "time-by-length", "geo-training", "okapi-by-parameters"]
    assert finished.out.split() == [str(figures / f"{name}.svg") for name in names]
    drawn = {path: path.read_bytes() for path in sorted(figures.iterdir())}
    for text in drawn.values():
        ElementTree.fromstring(text)
        assert b"<dc:date>" not in text
    messages = " ".join(finished.err.split())
    for table in ("mirror", "atis", "okapi", "style"):
        assert f"no training curves of {table}" in messages
    run_here("results", "--ledgers", ledgers, "--runs", runs, "--figures", figures)
    assert {path: path.read_bytes() for path in drawn} == drawn, "the same to the byte"


def test_no_times_are_said_so(tmp_path):
    finished = run_here("results", "mirror", "--ledgers", tmp_path, "--figures", tmp_path, "--runs", tmp_path)
    assert finished.code == 0
    assert finished.out.split() == [str(tmp_path / "mirror-by-length.svg")]
    assert "no times by output length" in finished.err


SHOWN = re.findall(
    r"!\[([^]]*)\]\(../(figures/[^)]*)\)", (ROOT / "docs" / "results" / "index.md").read_text("utf-8")
)


def test_figures_on_the_page_are_there_and_small():
    assert len(SHOWN) >= 5
    assert [name for text, name in SHOWN if len(text) < 40] == [], "what is seen, for those who cannot"
    assert [name for _, name in SHOWN if (ROOT / "docs" / name).stat().st_size > 200_000] == []


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("mirror-by-length", accuracy_by_length),
        ("okapi-by-parameters", accuracy_by_parameters),
        ("time-by-length", time_by_length),
    ],
)
def test_figures_are_up_to_date_with_the_ledgers(name, series):
    (shown,) = re.findall(r"numbers: (\w+)", (ROOT / "docs" / "figures" / f"{name}.svg").read_text("utf-8"))
    current = fingerprint(series(read_ledgers(ROOT / "results")))
    assert shown == current, "run: ftor results --figures docs/figures"
