"""Recorded runs, compared by their judgements."""

import numpy as np
import pytest

from ftor.errors import FtorError
from ftor.lab.comparing import compare_runs
from ftor.lab.lines import read_line
from ftor.metrics.judgements import Judgements
from ftor.metrics.significance import bootstrap, compare
from support.made_up_runs import metrics, of, parsing_run

RIGHT = np.array([1, 1, 0, 1, 0, 1, 1, 0], bool)
OTHER = np.array([1, 1, 1, 1, 1, 1, 0, 1], bool)


def run(experiment, seed, right, pairs="p", split="test", measure="execution_accuracy", **changes):
    line = read_line(parsing_run(experiment, seed, 0.5) | changes)
    judged = {split: Judgements(pairs, {"exact_match": ~right, measure: right})}
    return line.model_copy(update={"judged": judged})


def test_runs_with_the_same_seed_are_compared_one_by_one():
    lines = [run("geo-iid", 0, RIGHT), run("geo-iid", 1, OTHER), run("geo-iid", 2, RIGHT)]
    lines += [run("geo-iid-rf", 0, OTHER), run("geo-iid-rf", 1, OTHER)]
    found = compare_runs(lines, "geo-iid", "geo-iid-rf")
    assert (found.split, found.measure) == ("test", "execution_accuracy")
    assert [seeds for seeds, _ in found.by_seed] == [(0, 0), (1, 1)]
    assert found.by_seed[0].result == compare(RIGHT, OTHER)
    means = np.mean([RIGHT, OTHER, RIGHT], 0)
    assert found.difference == bootstrap(OTHER - means)
    assert found.first.value == pytest.approx(means.mean()), "all seeds count"


def test_two_runs_are_compared_whatever_their_seeds():
    lines = [run("geo-iid", seed, right) for seed, right in enumerate((RIGHT, OTHER))]
    found = compare_runs(lines, "geo-iid:0", "geo-iid:1")
    assert [seeds for seeds, _ in found.by_seed] == [(0, 1)]
    assert found.by_seed[0].result.p_value == compare(RIGHT, OTHER).p_value
    assert found.as_dict()["by_seed"][0]["only_second"] == 3


def test_with_the_grammar_if_all_runs_have_that():
    names = ("geo-iid", "geo-iid-rf")
    lines = [run(name, 0, RIGHT, split="test_grammar") for name in names]
    assert compare_runs(lines, *names).split == "test_grammar"
    lines += [run("geo-iid-ar", 0, OTHER)]
    with pytest.raises(FtorError, match=r"no judgements of test, which runs keep since .*: geo-iid:0$"):
        compare_runs(lines, "geo-iid", "geo-iid-ar")


def test_different_tasks_are_compared_by_exact_match():
    lines = [run("geo-iid", 0, RIGHT), run("geo-iid-rf", 0, RIGHT, measure="other_accuracy")]
    found = compare_runs(lines, "geo-iid", "geo-iid-rf")
    assert (found.measure, found.first.value) == ("exact_match", float((~RIGHT).mean()))


def test_evaluations_on_a_file_are_compared_by_its_name():
    lines = [run("geo-iid", 0, RIGHT), run("geo-iid-rf", 0, RIGHT)]
    for experiment, right in (("geo-iid", RIGHT), ("geo-iid-rf", OTHER)):
        line = read_line(of(experiment, 0) | {"file": "more.tsv", "metrics": metrics(0.5)})
        judged = {"more.tsv": Judgements("q", {"exact_match": right})}
        lines.append(line.model_copy(update={"judged": judged}))
    found = compare_runs(lines, "geo-iid", "geo-iid-rf", "more.tsv")
    assert (found.split, found.second.value) == ("more.tsv", OTHER.mean())
    assert compare_runs(lines, "geo-iid", "geo-iid-rf").split == "test"


def test_other_configurations_are_named_by_their_hash():
    lines = [run("geo-iid", 0, RIGHT), run("geo-iid", 0, OTHER, config="abc123456789")]
    assert compare_runs(lines, "geo-iid", "geo-iid@abc1:0").second.value == OTHER.mean()
    own = [
        run("geo-iid", 0, RIGHT, config=config).model_copy(update={"experiment": "mine"})
        for config in ("aa", "bb")
    ]
    with pytest.raises(FtorError, match="mine: several configurations; name one: mine@aa, mine@bb"):
        compare_runs(own, "mine", "mine@aa")


def test_lines_without_a_configuration_are_found_by_a_shipped_name():
    lines = [run(name, 0, RIGHT).model_copy(update={"config": None}) for name in ("geo-iid", "geo-iid-rf")]
    assert compare_runs(lines, "geo-iid", "geo-iid-rf").first.value == RIGHT.mean()


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("geo", "geo: the ledgers have no such experiment; they have geo-iid$"),
        ("geo-iid:7", "geo-iid:7: the ledgers have no such run"),
        ("geo-iid:x", "geo-iid:x: expected NAME, NAME:SEED"),
        ("geo-iid:1", "test: geo-iid:0 and geo-iid:1 were judged on different pairs"),
    ],
)
def test_what_cannot_be_compared(entry, complaint):
    lines = [run("geo-iid", 0, RIGHT), run("geo-iid", 1, RIGHT, pairs="q")]
    with pytest.raises(FtorError, match=complaint):
        compare_runs(lines, "geo-iid:0", entry)
