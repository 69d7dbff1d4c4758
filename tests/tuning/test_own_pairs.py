"""Bad input to a race: what is wrong is said in one line each, and the race goes on with the rest."""

from pathlib import Path

import pytest

from ftor.errors import FtorError
from ftor.reporting import SILENT, Report
from ftor.text.reading import DataError
from ftor.tuning import own_pairs
from ftor.tuning.own_pairs import Request, plan_race, train_on_pairs, warn_of_left_out
from ftor.tuning.race.plan import HELD_OUT_FILE, TRAIN_FILE
from support.tiny import write_lines

WORDS = {"red": "rouge", "dog": "chien", "cat": "chat", "sees": "voit", "big": "grand"}
ROWS = [
    f"{a} {b} {c}\t{WORDS[a]} {WORDS[b]} {WORDS[c]}" for a in WORDS for b in WORDS for c in WORDS if a != c
]


class Messages(Report):
    def __init__(self):
        self.warned, self.said = [], []

    def say(self, text):
        self.said.append(text)

    def warn(self, text):
        self.warned.append(text)


@pytest.fixture
def plan(tmp_path):
    """Plan a race of lines, and return what is warned of before and after it, and the plan."""

    def plan_lines(*lines, dev=None):
        path = write_lines(tmp_path / "a.tsv", *lines)
        request = Request.new(
            path, None if dev is None else write_lines(tmp_path / "b.tsv", *dev), quick=True
        )
        before, after = Messages(), Messages()
        planned = plan_race(request, tmp_path / "run", before)
        warn_of_left_out(request, planned.look, after)
        return [
            [warning.replace(f"{tmp_path}/", "") for warning in report.warned] for report in (before, after)
        ], planned

    return plan_lines


def test_good_pairs_have_no_warning(plan):
    warned, planned = plan(*ROWS)
    assert warned == [[], []]
    assert planned.look.pairs["train"] == len(ROWS)


def test_bad_lines_are_left_out(plan):
    (before, after), planned = plan(*ROWS[:9], "a\tb\tc", *ROWS[9:], "x")
    assert before == [
        "a.tsv:10: expected two columns, source and target, found 3; left out",
        f"a.tsv:{len(ROWS) + 2}: no tab between source and target; left out",
    ]
    assert after == [f"left out: a.tsv: 2 of {len(ROWS) + 2} lines"]
    assert planned.look.pairs["train"] == len(ROWS)


def test_a_long_line_is_left_out(plan):
    long = f"{'red ' * 3000}\t{'rouge ' * 3000}"
    (before, after), planned = plan(*ROWS[:9], long, *ROWS[9:])
    (warning,) = before
    assert warning.startswith(
        "a.tsv:10: 1 pair of more than 100 source tokens or target tokens left out of training."
    )
    assert after == [f"left out: a.tsv: 1 of {len(ROWS) + 1} lines (too long)"]
    assert planned.look.settings["data.max_length"] == 100
    files = [planned.folder / name for name in (TRAIN_FILE, HELD_OUT_FILE)]
    assert "red red red" not in "".join(path.read_text("utf-8") for path in files if path.exists())


def test_a_long_line_takes_no_part_in_recombining(plan, monkeypatch):
    aligned = []

    def recombine(pairs, *args):
        aligned.extend(pairs)
        return []

    monkeypatch.setattr(own_pairs, "recombined", recombine)
    plan(*ROWS, f"{'red ' * 3000}\t{'rouge ' * 3000}")
    assert aligned
    assert max(len(pair.source) for pair in aligned) <= 100


def test_dev_pairs_that_are_training_pairs_or_swapped_are_noticed(plan):
    (before, _), _ = plan(*ROWS, dev=ROWS[:20])
    assert before[0].startswith("b.tsv:1: All dev pairs are training pairs.")
    (before, _), _ = plan(*ROWS, dev=["\t".join(reversed(row.split("\t"))) for row in ROWS[:20]])
    assert before[0].startswith("b.tsv:1: The dev sources look like training targets")


def test_other_encodings_are_read(plan):
    (before, after), planned = plan(*ROWS, "très grand\tx".encode("latin-1"))
    assert before[0] == f"a.tsv:{len(ROWS) + 1}: not UTF-8; such lines are read as Windows-1252 (Latin-1)"
    assert planned.look.pairs["train"] == len(ROWS) + 1
    assert after == []


@pytest.mark.parametrize("rows", [ROWS[:1], ROWS[:1] * 30], ids=["one pair", "identical pairs"])
def test_few_or_identical_pairs_are_planned_for(plan, rows):
    assert plan(*rows)[1].look.pairs["train"] == len(rows)


@pytest.mark.parametrize(
    ("rows", "changes", "reason"),
    [
        (ROWS, {"quick": True}, "--quick"),
        (ROWS, {"overrides": ["model.architecture=lstm"]}, "your settings leave one candidate"),
        (ROWS[:1], {}, "1 pair found, at least 24 are needed to hold some out"),
        (ROWS[:7], {}, "7 pairs found, at least 24 are needed to hold some out"),
        (
            ROWS[:1] * 30,
            {},
            "none of the 30 pairs can be held out: each has a source that occurs several times",
        ),
        ([f"a{i}\tb{i}" for i in range(30)], {}, "none of the 30 pairs can be held out"),
    ],
    ids=["quick", "one candidate", "one pair", "few pairs", "identical pairs", "words of one pair"],
)
def test_why_there_is_no_race_is_said(tmp_path, rows, changes, reason):
    messages = Messages()
    request = Request.new(write_lines(tmp_path / "a.tsv", *rows), **changes)
    planned = plan_race(request, tmp_path / "run", messages)
    assert not planned.races
    assert planned.epochs == planned.wanted
    assert messages.said[-1].startswith(f"no race: {reason}")


def test_a_single_pair_is_named(plan):
    (before, _), _ = plan("no pair", ROWS[0])
    assert before[-1] == (
        "a.tsv:2: this is the only training pair, so the model learns no other target; give more pairs, "
        "for a race at least 24"
    )


def test_a_race_by_made_pairs_alone_says_how_long_it_takes(tmp_path):
    """None of so few pairs are held out, but longer ones can be made of them."""
    home = Path(__file__).parents[2] / "examples" / "home" / "train.tsv"
    rows, messages = home.read_text("utf-8").splitlines()[:20], Messages()
    request = Request.new(write_lines(tmp_path / "a.tsv", *rows), minutes=0.1)
    assert plan_race(request, tmp_path / "run", messages).held_out["made longer"]
    assert "longer than --minutes 0.1" in messages.said[0]


@pytest.mark.parametrize(
    ("lines", "message"), [([], "no pairs in the file"), (["a,b"] * 9, "looks like CSV")]
)
def test_files_without_pairs_are_one_error(plan, lines, message):
    with pytest.raises(DataError, match=message) as error:
        plan(*lines)
    assert "\n" not in str(error.value)


class Everything(Report):
    def __init__(self):
        self.texts = []

    def say(self, text):
        self.texts.append(text)


@pytest.mark.parametrize(("minutes", "says"), [(0.1, True), (60.0, False)])
def test_a_race_that_takes_longer_than_wanted_says_so_first(tmp_path, minutes, says):
    request = Request.new(write_lines(tmp_path / "a.tsv", *ROWS), minutes=minutes)
    report = Everything()
    planned = plan_race(request, tmp_path / "run", report)
    text = f"longer than --minutes {minutes:g}: {planned.epochs} epochs are the least that tell anything"
    assert [text in one for one in report.texts] == [says, *[False] * (len(report.texts) - 1)]
    assert any(one.startswith("race: ") for one in report.texts)


def test_a_grammar_that_is_not_there_is_told_before_anything_is_trained(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"a {i}\tA {i}\n" for i in range(50)), "utf-8")
    request = Request.new(path, overrides=["decoding.grammar=none.cfg"])
    with pytest.raises(FtorError, match=r"none.cfg: No such file"):
        plan_race(request, tmp_path / "model", SILENT)
    assert not (tmp_path / "model").exists()


def test_a_race_that_is_stopped_at_its_very_end_says_how_to_resume_it(tmp_path, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(own_pairs, "run_jobs", lambda *arguments: True)
    monkeypatch.setattr(own_pairs, "finish", stop)
    request, messages = Request.new(write_lines(tmp_path / "a.tsv", *ROWS), quick=True), Messages()
    assert train_on_pairs(request, tmp_path / "run", messages) is None
    assert messages.said[-1] == f"stopped; to resume: ftor train --resume {tmp_path / 'run'}"
    assert Request.unfinished(tmp_path / "run") == request


@pytest.mark.parametrize(
    ("arities", "notation", "warning"),
    [
        pytest.param("and:2 not:1", "prefix", None, id="of all functions"),
        pytest.param("and:2", None, "training is not prefix: line 1: not one tree", id="without one"),
    ],
)
def test_numbers_of_arguments_that_the_user_sets_are_used(tmp_path, arities, notation, warning):
    colours = ("red", "blue", "green", "grey")
    rows = [f"no {colour}\tnot {colour}" for colour in colours]
    rows += [f"{one} but no {other}\tand {one} not {other}" for one in colours for other in colours]
    path, report = write_lines(tmp_path / "a.tsv", *rows), Messages()
    request = Request.new(path, quick=True, overrides=[f'data.arities="{arities}"'])
    planned = plan_race(request, tmp_path / "run", report)
    assert planned.look.notation == notation
    assert any(warning in text for text in report.warned) if warning else not report.warned
    assert planned.look.settings["data.programs"] == "auto"
