"""The battery's pairs: reproducible, different in both variants, and solvable in principle."""

import statistics
import sys
from pathlib import Path

import pytest

import battery
import own_data
from battery import overnight
from battery.formulas import PRECEDENCE, infix
from battery.letters import english, turkish
from battery.task import Pairs, Task, words
from ftor.grammar import Grammar
from ftor.text.reading import read_pairs, write_pairs

TASKS = [pytest.param(task, id=f"{task.name}-{task.variant}") for task in battery.TASKS]


def test_there_are_twelve_kinds_in_two_variants():
    assert len({name.removesuffix("-grammar") for name in battery.NAMES}) == 12
    assert len(battery.TASKS) == 2 * len(battery.NAMES)


@pytest.mark.parametrize("task", TASKS)
def test_a_seed_gives_the_same_pairs(task: Task):
    assert task.split(3) == task.split(3)
    assert task.split(3) != task.split(4)


@pytest.mark.parametrize("task", TASKS)
def test_test_pairs_are_new_longer_and_need_only_known_words(task: Task):
    train, test = task.split(0)
    assert (len(train), len(test)) == (task.train, task.test)
    assert 40 <= len(train) <= 2000
    assert 100 <= len(test) <= 200
    assert not dict(train).keys() & dict(test).keys()
    for side in (0, 1):
        known = {word for pair in train for word in words(pair[side])}
        new = {word for pair in test for word in words(pair[side])} - known
        assert all(task.copied(word) for word in new)
        assert mean_length(test, side) > 1.2 * mean_length(train, side)


def mean_length(pairs: Pairs, side: int) -> float:
    return statistics.mean(len(words(pair[side])) for pair in pairs)


@pytest.mark.parametrize("name", ["conversions"])
def test_new_words_are_copied(name: str):
    for variant in "ab":
        train, test = battery.find(name, variant).split(0)
        known = {word for _, target in train for word in words(target)}
        new = [(source, word) for source, target in test for word in words(target) if word not in known]
        assert len(new) >= len(test)
        assert all(word in words(source) for source, word in new)


@pytest.mark.parametrize("name", battery.NAMES)
def test_variants_have_other_words(name: str):
    vocabularies = [
        {word for pair in battery.find(name, variant).split(0)[0] for word in words(" ".join(pair))}
        for variant in "ab"
    ]
    named = [{word for word in vocabulary if word.isalpha()} for vocabulary in vocabularies]
    if name == "letters":  # both are spelled in Latin letters
        named = [{word for word in vocabulary if word.isupper()} for vocabulary in named]
    shared = named[0] & named[1]
    assert len(shared) <= min(map(len, named)) / 3


@pytest.mark.parametrize("variant", ["a", "b"])
def test_the_users_grammar_derives_every_target(tmp_path: Path, variant: str):
    task = battery.find("home-grammar", variant)
    task.write(tmp_path, 0)
    grammar = Grammar.read(str(tmp_path / "grammar.cfg"))
    train, test = task.split(0)
    assert all(grammar.accepts(target.split()) for _, target in train + test)
    assert not grammar.accepts([*train[0][1].split(), "room"])


def test_formulas_have_the_brackets_that_they_need():
    assert infix(("-", "a", ("-", "b", ("*", "c", "d"))), PRECEDENCE) == "a - ( b - c * d )"
    assert infix(("*", ("+", "a", "b"), "c"), PRECEDENCE) == "( a + b ) * c"
    assert infix(("-", ("-", "a", "b"), "c"), PRECEDENCE) == "a - b - c"


def test_words_are_inflected_by_the_rules():
    forms = {("stary", "PLURAL"): "staries", ("bray", "PLURAL"): "brays", ("tosh", "PLURAL"): "toshes"}
    forms |= {("bare", "PAST"): "bared", ("bare", "ING"): "baring", ("stary", "PAST"): "staried"}
    assert {key: english(*key) for key in forms} == forms
    assert [turkish("kitap", "LOC"), turkish("ev", "PL LOC")] == ["kitapta", "evlerde"]


def test_programs_are_within_reach_if_training_has_every_parent_with_every_child():
    train = [("a", "(f (g x))"), ("b", "(f (h (k x)))"), ("c", "(h (g x))")]
    reached, not_reached = ("d", "(f (h (g x)))"), ("e", "(f (k x))")
    assert overnight.within_reach(train, [reached, not_reached]) == [reached]


def test_size_splits_train_on_the_smaller_programs():
    small = [(f"small {n}", f"( {'fg'[n % 2]} a{n % 3} )") for n in range(12)]
    large = [(f"large {n}", f"( f ( g a{n % 3} a{n % 2} ) )") for n in range(8)]
    unknown = [("unknown", "( f ( g a0 b ) )")]
    train, test, most = overnight.size_split([*large, *small, *unknown])
    assert (train, test) == (small, large)
    assert most < 4


def test_overnight_tasks_have_the_published_pairs_or_larger_programs_in_the_test(tmp_path: Path):
    pairs = [(f"{n} of these", f"(f a{n % 3})" if n % 2 else f"(f (f a{n % 3}))") for n in range(12)]
    for part, some in (("train", pairs[:8]), ("test", pairs[8:])):
        write_pairs(some, tmp_path / f"blocks.{part}.tsv")
    for name in ("overnight-blocks", "overnight-size-blocks"):
        (tmp_path / name).mkdir()
        overnight.write(name, tmp_path, tmp_path / name)
    for part in ("train", "test"):
        published = read_pairs(tmp_path / f"blocks.{part}.tsv")
        assert read_pairs(tmp_path / "overnight-blocks" / f"{part}.tsv") == published
    larger = {pair.target_text for pair in read_pairs(tmp_path / "overnight-size-blocks" / "test.tsv")}
    assert larger == {"(f (f a0))", "(f (f a1))", "(f (f a2))"}


def test_make_writes_the_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    monkeypatch.setenv("FTOR_DATA", str(tmp_path / "nothing"))
    arguments = ["make", str(tmp_path), "--task", "phrases", "overnight-size-blocks", "--variant", "b"]
    monkeypatch.setattr(sys, "argv", ["own_data.py", *arguments])
    own_data.main()
    assert len((tmp_path / "phrases" / "train.tsv").read_text("utf-8").splitlines()) == 40
    assert not (tmp_path / "overnight-size-blocks").exists()
    assert "overnight-size-blocks: skipped: no " in capsys.readouterr().err
