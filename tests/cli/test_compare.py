import json
import re
from itertools import permutations

import numpy as np
import pytest

from ftor.lab.ledger import append
from ftor.metrics.judgements import Judgements
from ftor.metrics.significance import mcnemar
from support.made_up_runs import parsing_run
from support.tiny import run_here, write_lines


@pytest.fixture
def other(run):
    """Another model, which answers otherwise."""
    return run("other", training__seed=1)


def outputs(folder, sentences):
    finished = run_here("predict", folder, *sentences)
    return [json.loads(line)["prediction"] for line in finished.out.splitlines()]


@pytest.fixture
def pairs(trained, other, tmp_path):
    """Pairs of which the trained model answers the first three right, and the other model none."""
    sentences = [" ".join(letters) for letters in permutations("abcd")]
    answers = zip(sentences, outputs(trained, sentences), outputs(other, sentences), strict=True)
    rows = [f"{sentence}\t{answer}" for sentence, answer, wrong in answers if answer != wrong]
    return write_lines(tmp_path / "more.tsv", *rows[:3], "a b c\tneither")


def test_tables(trained, other, pairs):
    finished = run_here("compare", other, trained, pairs, "--n", "2")
    assert finished.code == 0, finished.err
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in finished.out.splitlines()]
    wrong = next(int(row[1]) for row in rows if row[:1] == ["worse: only A right"])
    better = next(int(row[1]) for row in rows if row[:1] == ["better: only B right"])
    assert f"p = {mcnemar(better, wrong):.2g} (exact McNemar test)" in finished.out
    assert better == 3
    assert "better: only B is right (2 of 3)" in finished.out
    assert len(re.findall("^gold ", finished.out, re.M)) == 2
    assert "B − A" in finished.out


def test_json_has_all_changes(trained, other, pairs):
    finished = run_here("compare", trained, other, pairs, "--json")
    found = json.loads(finished.out)
    assert found["measure"] == "exact_match"
    assert (found["first"]["value"], found["second"]["value"]) == (0.75, 0)
    assert (found["only_first"], found["only_second"], found["neither"]) == (3, 0, 1)
    assert [change["line"] for change in found["changes"]] == [1, 2, 3]
    assert not any(change["better"] for change in found["changes"])


def test_a_model_and_itself(trained, data):
    finished = run_here("compare", trained, trained, data / "test.tsv")
    assert "no significant difference, p = 1" in finished.out


@pytest.mark.parametrize(
    ("lines", "message"),
    [([], "no pairs in the file"), (["a"], ":1: no tab between source and target")],
    ids=["empty", "no tab"],
)
def test_no_pairs(trained, tmp_path, lines, message):
    path = write_lines(tmp_path / "a.tsv", *lines)
    finished = run_here("compare", trained, trained, path)
    assert (finished.code, finished.out) == (1, "")
    assert finished.err.startswith(f"error: {path}")
    assert message in finished.err
    assert len(finished.err.splitlines()) == 1


def test_no_model(trained, data, tmp_path):
    finished = run_here("compare", trained, tmp_path / "none", data / "test.tsv")
    assert (finished.code, finished.out) == (1, "")
    assert len(finished.err.splitlines()) == 1


def test_pairs_of_another_task(trained, tmp_path):
    path = write_lines(tmp_path / "a.tsv", "what is the capital\tcapital", "how long is it\tlength")
    finished = run_here("compare", trained, trained, path)
    assert finished.code == 0
    warning = (
        f"warning: {trained} was trained on hardly any of these words; are the pairs those of another task?"
    )
    assert finished.err.splitlines() == [warning] * 2


@pytest.fixture
def ledgers(tmp_path):
    """Two recorded seeds of two experiments."""
    for seed, (first, second) in enumerate([("11010110", "11111101"), ("10010110", "11110101")]):
        for experiment, bits in (("geo-iid", first), ("geo-iid-rf", second)):
            right = np.array([bit == "1" for bit in bits])
            judged = {"test": Judgements("p", {"exact_match": right, "execution_accuracy": right})}
            append(tmp_path / "geo.jsonl", parsing_run(experiment, seed, right.mean()), judged)
    return tmp_path


def test_recorded_runs_are_compared_without_their_models(ledgers):
    finished = run_here("compare", "geo-iid", "geo-iid-rf", "--ledgers", ledgers)
    assert (finished.code, finished.err) == (0, "")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in finished.out.splitlines()]
    assert ["A  geo-iid", "56.2 %"] in [row[:2] for row in rows]
    assert ["0", "62.5 %", "87.5 %", "+25.0"] in [row[:4] for row in rows]
    assert "test, mean over the runs:" in finished.out


def test_recorded_runs_as_json(ledgers):
    finished = run_here("compare", "geo-iid:0", "geo-iid-rf:0", "--ledgers", ledgers, "--json")
    found = json.loads(finished.out)
    assert (found["measure"], found["difference"]["value"]) == ("execution_accuracy", 0.25)
    assert found["by_seed"][0]["p_value"] == mcnemar(1, 3)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a", "b"], 2, "needed without --ledgers"),
        (["a", "b", "c.tsv", "--split", "dev"], 2, "only with --ledgers"),
        (["a", "b", "c.tsv", "--ledgers", "."], 2, "recorded runs have their pairs"),
        *(
            (["a", "b", "--ledgers", ".", option, value], 2, "which runs no model")
            for option, value in [
                *(("--n", "3"), ("--lengths", "2"), ("--grammar", "none")),
                *(("--data-dir", "."), ("--threads", "1")),
            ]
        ),
        (["a", "b", "--ledgers", "none"], 1, "none: no such folder"),
    ],
)
def test_models_need_pairs_and_recorded_runs_do_not(arguments, code, message):
    finished = run_here("compare", *arguments)
    assert (finished.code, finished.out) == (code, "")
    assert message in " ".join(finished.err.replace("│", " ").split())
