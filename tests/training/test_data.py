"""The pairs of a run: what is left out, held out and refused."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ftor.config import Config
from ftor.grammar import Grammar
from ftor.reporting import Report
from ftor.text.programs.grammars import over_units
from ftor.text.reading import DataError
from ftor.training import data
from ftor.training.data import load_training_data

TRANSDUCER = {"data.start_token": False, "model.max_fertility": 2}


class Messages(Report):
    """Keeps what is said and warned."""

    def __init__(self):
        self.said, self.warned = [], []

    def say(self, text):
        self.said.append(text)

    def warn(self, text):
        self.warned.append(text)


@pytest.fixture
def load(tmp_path):
    """Load pairs, given as one text per split, for an experiment with some settings."""

    def load_texts(report, settings=None, **texts):
        for split, text in texts.items():
            (tmp_path / f"{split}.tsv").write_text(text)
        files = {f"data.{split}": str(tmp_path / f"{split}.tsv") for split in texts}
        overrides = files | (settings or TRANSDUCER)
        config = Config.load("transducer", [f"{key}={json.dumps(value)}" for key, value in overrides.items()])
        return load_training_data(config, None, tmp_path / "run", report)

    return load_texts


def lines(pairs):
    return [pair.line for pair in pairs]


SHORT, LONG, OTHER = "a b\tx y\n", "a\tx y z\n", "b a\ty x\n"


def test_training_pairs_out_of_reach_are_left_out_and_listed(load, tmp_path):
    report = Messages()
    loaded = load(report, train=SHORT + LONG + SHORT, dev=OTHER)
    assert lines(loaded.train) == [1, 3]
    assert loaded.left_out == (f"{tmp_path / 'train.tsv'}: 1 pair too long",)
    (warning,) = report.warned
    assert warning.startswith("left out 1 of 3 training pairs: their targets are longer than 2 copies")
    assert warning.endswith(f"{tmp_path / 'train.tsv'}:2: 3 target tokens from 1 source token")


def test_of_many_pairs_that_are_left_out_the_first_are_named(load, tmp_path):
    """A user who sets a small limit does not read thousands of lines."""
    report = Messages()
    settings = TRANSDUCER | {"data.max_length": 3}
    loaded = load(report, settings, train=SHORT + LONG * 9 + "a b c d\tx y z w\n" * 8, dev=OTHER)
    assert lines(loaded.train) == [1]
    assert loaded.left_out == (f"{tmp_path / 'train.tsv'}: 17 pairs too long",)
    beyond_reach, *beyond_length, others = report.warned
    assert beyond_reach.splitlines()[-2:] == [
        f"  {tmp_path / 'train.tsv'}:6: 3 target tokens from 1 source token",
        "  and 4 pairs more",
    ]
    assert len(beyond_length) == 5
    assert others.endswith("train.tsv: 3 pairs more too long to be trained on, of 9 in all; left out")


def test_lengths_of_programs_are_counted_in_units(load):
    report = Messages()
    programs = "a\t( f ( g x ) )\na\t( f ( g y ) )\n" * 5
    settings = TRANSDUCER | {"data.programs": "s-expression", "data.max_length": 2, "data.unit_share": 2}
    settings |= {"data.unit_child_share": 2, "model.max_fertility": 4}
    load(report, settings, train=programs + "a\t( f x )\n", dev="a\t( f x )\n")
    assert (
        "train.tsv:1: 1 source token and 3 target units are more than data.max_length = 2;"
        in report.warned[0]
    )


def test_the_start_token_is_a_position_to_copy(load):
    loaded = load(Messages(), TRANSDUCER | {"data.start_token": True}, train=LONG, dev=SHORT)
    assert lines(loaded.train) == [1]


def test_networks_without_fertilities_reach_everything(load):
    settings = {"data.start_token": False, "model.architecture": "lstm"}
    loaded = load(Messages(), settings, train=LONG, dev=LONG)
    assert lines(loaded.train) == lines(loaded.reachable_dev) == [1]


def test_dev_pairs_out_of_reach_are_kept_but_have_no_loss(load):
    report = Messages()
    loaded = load(report, train=SHORT, dev=LONG + SHORT)
    assert lines(loaded.dev) == [1, 2]
    assert lines(loaded.reachable_dev) == [2]
    assert report.warned[0].endswith(
        "dev.tsv:1: 1 of 2 dev targets are too long for model.max_fertility; the dev loss leaves them out"
    )


@pytest.mark.parametrize(
    ("train", "dev", "message"),
    [
        (LONG, SHORT, "train.tsv: all targets are too long for model.max_fertility"),
        (SHORT, LONG, "dev.tsv: all dev targets are too long for model.max_fertility"),
    ],
)
def test_nothing_in_reach_is_an_error(load, train, dev, message):
    with pytest.raises(DataError, match=message):
        load(Messages(), train=train, dev=dev)


def test_every_tenth_pair_in_reach_is_held_out_without_a_dev_file(load):
    report = Messages()
    loaded = load(report, train=LONG + SHORT * 20)
    assert lines(loaded.dev) == [11, 21]
    assert lines(loaded.train) == [line for line in range(2, 21) if line != 11]
    assert "no dev file: every 10th training pair is held out (2 of 20)" in report.said


def test_few_pairs_are_dev_pairs_too(load):
    report = Messages()
    loaded = load(report, train=SHORT * 9)
    assert loaded.dev == loaded.train
    assert report.warned == ["no dev file: the best epoch is chosen on the 9 training pairs themselves"]


def test_recombined_pairs_are_added_if_they_are_wanted(load):
    parts = [f"{a} {b}" for a in "abc" for b in "xyz"]
    lines = parts + [f"{one} and {other}" for one, other in zip(parts, parts[1:] + parts[:1], strict=True)]
    text = "".join(f"{line}\t{line.replace('and', ';').upper()}\n" for line in lines)
    plain = load(Messages(), train=text, dev="a x\tA X\n")
    messages = Messages()
    more = load(messages, TRANSDUCER | {"training.recombine": 0.5}, train=text, dev="a x\tA X\n")
    assert more.made > 0
    assert more.train[: len(plain.train)] == plain.train
    new = more.train[len(plain.train) :]
    assert len(new) == round(0.5 * len(lines))
    assert all(" ".join(pair.source).replace("and", ";").upper().split() == list(pair.target) for pair in new)
    assert messages.said[-1] == f"{len(new)} pairs are put together from parts of {len(lines)} training pairs"


def test_bad_lines_of_own_files_are_left_out(load, tmp_path):
    report = Messages()
    loaded = load(report, train=SHORT + "a\n" + SHORT, dev="b\n" + OTHER)
    assert (lines(loaded.train), lines(loaded.dev)) == ([1, 3], [2])
    assert report.warned == [
        f"{tmp_path / 'train.tsv'}:2: no tab between source and target; left out",
        f"{tmp_path / 'dev.tsv'}:1: no tab between source and target; left out",
    ]
    assert loaded.left_out == (
        f"{tmp_path / 'train.tsv'}: 1 of 3 lines",
        f"{tmp_path / 'dev.tsv'}: 1 of 2 lines",
    )


def test_bad_lines_of_published_files_are_an_error(load):
    with pytest.raises(DataError, match=r"train\.tsv:2: .*\n.*dev\.tsv:1: "):
        load(Messages(), {"data.task": "mirror"}, train=SHORT + "a\n", dev="b\n")


def test_files_without_any_pair_are_an_error(load):
    with pytest.raises(DataError, match=r"train\.tsv:1: .*\n.*dev\.tsv: no pairs in the file"):
        load(Messages(), train="a\n", dev="")


def test_dev_pairs_that_are_training_pairs_are_a_warning(load):
    report = Messages()
    load(report, train=SHORT + OTHER, dev=OTHER)
    (warning,) = report.warned
    assert "all dev pairs are training pairs" in warning
    load(report, train=SHORT, dev=OTHER)
    assert len(report.warned) == 1


def test_swapped_columns_are_a_warning(load):
    report = Messages()
    load(report, train=SHORT, dev="x y\ta b\n")
    (warning,) = report.warned
    assert "dev.tsv: its sources look like targets of" in warning


@pytest.mark.parametrize("split", ["train", "dev"])
def test_pairs_beyond_the_greatest_length_are_not_trained_on(load, tmp_path, split):
    report, long = Messages(), "a b a b\tx y x y\n"
    texts = {"train": SHORT, "dev": OTHER}
    loaded = load(report, TRANSDUCER | {"data.max_length": 3}, **texts | {split: texts[split] + long})
    assert (lines(loaded.train), lines(loaded.reachable_dev)) == ([1], [1])
    (warning,) = report.warned
    if split == "train":
        sizes = "4 source tokens and 4 target tokens are more than data.max_length = 3"
        start = f"{tmp_path / 'train.tsv'}:2: {sizes}"
        assert warning == f"{start}; left out of training"
    else:
        assert warning.endswith(
            "dev.tsv:2: 1 of 2 dev targets are too long for training; the dev loss leaves them out"
        )


def test_a_pair_that_is_far_longer_than_the_others_is_not_trained_on(load):
    report, long = Messages(), f"{'a ' * 150}\t{'x ' * 150}\n"
    settings = {"model.architecture": "lstm"}
    loaded = load(report, settings, train=SHORT * 30 + long, dev=OTHER)
    assert len(loaded.train) == 30
    (warning,) = report.warned
    assert (
        "train.tsv:31: 150 source tokens and 150 target tokens are more than data.max_length = 100, "
        in warning
    )
    assert (
        len(load(report, settings | {"data.task": "mirror"}, train=SHORT * 30 + long, dev=OTHER).train) == 31
    )


class TestMemory:
    @pytest.fixture(autouse=True)
    def little_memory(self, monkeypatch):
        free = type("Memory", (), {"available": 2e6})
        monkeypatch.setattr(data.psutil, "virtual_memory", lambda: free)

    def test_a_pair_that_does_not_fit_costs_only_itself(self, load, tmp_path):
        pair, report = " ".join("a" * 100), Messages()
        loaded = load(report, train=SHORT + f"{pair}\t{pair}\n", dev=OTHER)
        assert lines(loaded.train) == [1]
        (warning,) = report.warned
        start = f"{tmp_path / 'train.tsv'}:2: a target of 100 tokens needs about 0 GB of memory"
        assert warning.startswith(start)

    def test_batches_that_do_not_fit_are_refused(self, load):
        pair = " ".join("a" * 50)
        with pytest.raises(
            DataError, match=r"train\.tsv:1: a target of 50 tokens needs about 0 GB of memory"
        ):
            load(Messages(), train=f"{pair}\t{pair}\n" * 10, dev=SHORT)

    def test_what_is_not_reordered_needs_no_memory(self, load):
        pair = " ".join("a" * 100)
        load(Messages(), TRANSDUCER | {"model.order": "fertility"}, train=f"{pair}\t{pair}\n", dev=SHORT)


HOME = Path(__file__).parents[2] / "examples" / "home" / "programs" / "train.tsv"


def test_recombined_programs_are_added_to_training_pairs_and_not_to_dev(load):
    report = Messages()
    settings = {"data.programs": "auto"}
    plain = load(report, settings, train=HOME.read_text())
    more = load(report, settings | {"training.recombine": 0.5}, train=HOME.read_text())
    assert more.dev == plain.dev
    assert more.train[: len(plain.train)] == plain.train
    added = more.train[len(plain.train) :]
    assert len(added) == round(0.5 * len(plain.train))
    assert not {pair.source for pair in added} & {pair.source for pair in plain.train}
    assert any(text.startswith(f"{len(added)} pairs are put together") for text in report.said)


def test_programs_are_read_with_given_arities(load):
    texts = "and x not y", "and not x y", "not and x y"
    settings = {"data.programs": "auto", "data.arities": "and:2 not:1"}
    loaded = load(
        Messages(), settings, train="".join(f"a b\t{text}\n" for text in texts), dev=f"a\t{texts[0]}\n"
    )
    assert loaded.programs.notation.arities == {"and": 2, "not": 1, "x": 0, "y": 0}


def test_alternatives_that_the_compiled_grammar_is_without_are_named(load):
    programs = "a\t(f (g x))\na\t(f (g y))\n" * 5
    loaded = load(Messages(), TRANSDUCER | {"data.programs": "auto"}, train=programs, dev=programs)
    rules = Grammar.parse("S -> '(' 'f' G ')'\nG -> '(' 'g' X ')' | '(' 'h' X ')'\nX : x | y", "my.cfg")
    report, grammar = Messages(), over_units(rules, loaded.programs)
    model = SimpleNamespace(grammar=grammar, uses_grammar=True, derives=lambda target, source: True)
    data.check_grammar(model, loaded, report)
    expected = "my.cfg: left out, because training has no such programs: G -> '(' 'h' X ')'"
    assert report.warned == [expected]
