"""A look at pairs whose properties are known, because they are generated here."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from ftor.config import Config
from ftor.tuning.look import look, looking
from support.pairs import pairs_of

LETTERS = "abcdefghij"


def words(draw, least, most, alphabet=LETTERS):
    return [draw.choice(alphabet) for _ in range(draw.randint(least, most))]


def doubled(count=200):
    draw = random.Random(0)
    rows = (words(draw, 4, 7) for _ in range(count))
    return pairs_of((" ".join(row), " ".join(row + row)) for row in rows)


def reversed_words(count=200):
    draw = random.Random(0)
    rows = (words(draw, 2, 6) for _ in range(count))
    return pairs_of((" ".join(row), " ".join(reversed(row)).upper()) for row in rows)


def timers(count=200):
    draw = random.Random(0)
    rows = ((draw.randint(1, 99), draw.choice(["minutes", "hours"])) for _ in range(count))
    return pairs_of((f"a timer for {n} {unit} please", f"( timer ( {unit} {n} ) )") for n, unit in rows)


def tenfold(count=100, mixed=True):
    """Each word writes ten tokens, always in the same order or each time in another one."""
    draw = random.Random(0)
    rows = (words(draw, 1, 3) for _ in range(count))
    order = (lambda: draw.sample(range(10), 10)) if mixed else (lambda: range(10))
    return pairs_of((" ".join(row), " ".join(f"{w}{i}" for w in row for i in order())) for row in rows)


def crossed(count=200):
    """Four words always come out in the order 2 4 1 3."""
    draw = random.Random(0)
    rows = (draw.sample(LETTERS, 4) for _ in range(count))
    return pairs_of((" ".join(row), " ".join(row[i] for i in (1, 3, 0, 2)).upper()) for row in rows)


def plurals(count=300):
    """An ending whose vowel depends on the stem's. An aligner takes it for a copy of the stem's vowel."""
    draw, endings = random.Random(0), {"a": "a", "o": "a", "e": "e", "i": "e"}
    rows = []
    for _ in range(count):
        stem = [draw.choice("ptksm"), draw.choice("aoei"), draw.choice("ptksm")]
        rows.append((" ".join(["PL", *stem]), " ".join([*stem, "l", endings[stem[1]], "r"])))
    return pairs_of(rows)


def kinds(found):
    return {finding.kind for finding in found.warnings}


def test_plain_reversal_has_no_warning_and_is_separable():
    found = look(reversed_words())
    assert not found.warnings
    assert found.alignment.explained == 1
    assert found.alignment.not_separable == 0
    assert found.alignment.separable > 0.8
    assert found.notation is None
    assert found.settings["data.programs"] == "none"


def test_doubling_is_said_to_be_out_of_reach():
    found = look(doubled())
    (finding,) = [finding for finding in found.warnings if finding.kind == "doubling"]
    assert found.alignment.doubling > 0.9
    assert "of the pairs repeat a whole source of four words or more" in finding.text
    assert not any(one.kind == "reordering" for one in found.findings)  # by its links it would be separable
    assert "cannot be learnt" in finding.advice
    assert len(finding.lines) == 5


def test_orders_that_are_not_separable_are_named_with_their_links():
    found = look(crossed())
    (finding,) = [finding for finding in found.warnings if finding.kind == "not-separable"]
    assert found.alignment.not_separable > 0.95
    assert "3 of 3 crossing links in line 1 " in finding.text
    assert "LSTM" in finding.advice


def test_links_that_are_only_frequent_are_no_reason_to_warn():
    assert "not-separable" not in kinds(look(plurals()))


def test_few_links_do_not_tell_the_reordering():
    """Only the first target token follows from the source."""
    draw = random.Random(0)
    words = [[f"{place}{draw.choice('abc')}" for place in "uvw"] for _ in range(200)]
    noise = [[draw.choice("xyz") for _ in range(5)] for _ in words]
    rows = [
        (" ".join(some), " ".join([some[0].upper(), *other]))
        for some, other in zip(words, noise, strict=True)
    ]
    (finding,) = [finding for finding in look(pairs_of(rows)).findings if finding.kind == "reordering"]
    assert "too few to tell how many pairs need reordering" in finding.text
    assert "need no reordering" not in finding.text
    assert not finding.settings


def test_many_links_tell_the_reordering():
    (finding,) = [finding for finding in look(reversed_words()).findings if finding.kind == "reordering"]
    assert "of the pairs need no reordering" in finding.text


def test_programs_are_measured_in_units_and_numbers_are_copied():
    found = look(timers())
    assert found.notation == "s-expression"
    assert found.units is not None
    assert found.units.mean < found.target.mean
    assert found.settings["data.programs"] == "auto"
    assert found.settings["model.copying"] is True
    assert found.copies.numbers_copied == 1


def test_numbers_that_are_all_frequent_may_be_copied_or_not():
    hours = [
        (f"wake me at {hour} on {day}", f"( alarm {hour} {day} )") for hour in range(1, 9) for day in "mtwf"
    ]
    found = look(pairs_of(hours))
    assert found.copies.numbers_copied == 1
    assert found.open == {"model.copying": (False, True)}
    assert look(pairs_of([*hours, ("wake me at 9 on m", "( alarm 9 m )")])).settings["model.copying"] is True


def test_units_are_those_of_a_model_that_does_not_copy_unless_it_should():
    draw = random.Random(0)
    sides = [(draw.choice("abc"), draw.choice("xyz")) for _ in range(100)]
    copied = [(f"{a} to {x}", f"( go ( from {a} ) ( to {x} ) )") for a, x in sides]
    found = look(pairs_of([*copied, *[("wait here now", "( go ( from here ) ( to now ) )")] * 9]))
    assert found.open == {"model.copying": (False, True)}
    assert found.units is not None
    assert found.units.mean < 5


def test_max_fertility_is_what_single_words_write():
    found = look(tenfold())
    assert found.fertility.all < 10  # a start token and three words could share the work
    assert found.settings["model.max_fertility"] == 10


def test_max_fertility_is_enough_for_longer_sources():
    """Each word writes twelve tokens, of which an aligner can be sure of none."""
    draw = random.Random(0)
    counts = [1 + i % 2 for i in range(60)]
    rows = [(" ".join("ab"[:count]), " ".join(draw.choices("xyz", k=12 * count))) for count in counts]
    found = look(pairs_of(rows))
    assert found.fertility.all == 8
    assert found.settings["model.max_fertility"] == 12


def test_tokens_that_always_come_together_are_units():
    found = look(tenfold(mixed=False))
    assert found.settings["data.programs"] == "tokens"
    assert found.units is not None
    assert found.units.most == 3
    assert found.settings["model.max_fertility"] == 4


def test_one_long_target_does_not_raise_max_fertility():
    rows = [*reversed_words(), *pairs_of([("a b", " ".join("A" * 90))])]
    found = look(rows)
    assert found.settings["model.max_fertility"] == 4
    assert "fertility" in kinds(found)


def test_rare_copied_words_call_for_copying_and_frequent_ones_leave_it_open():
    rows = [(f"who is person{i} ?", f"( who person{i} )") for i in range(60)]
    found = look(pairs_of(rows))
    assert found.settings["model.copying"] is True
    assert "data.copy_case" not in found.settings
    found = look(doubled())
    assert found.open == {"model.copying": (False, True)}
    assert "model.copying" not in found.settings


def test_copies_in_another_case_change_the_case_rule():
    rows = [(f"who is Person{i} ?", f"( who person{i} )") for i in range(60)]
    assert look(pairs_of(rows)).settings["data.copy_case"] == "any"


def test_numbers_do_not_hide_copies_in_another_case():
    numbers = [(f"wait {n} hours", f"WAIT {n}") for n in range(1000, 1120)]
    names = [(f"call person{n}x", f"CALL Person{n}x") for n in range(8)]
    settings = look(pairs_of([*numbers, *names])).settings
    assert (settings["model.copying"], settings["data.copy_case"]) == (True, "any")
    assert "data.copy_case" not in look(pairs_of(numbers + [(s, s) for s, _ in names])).settings


def test_frequent_copies_in_another_case_count_if_only_numbers_are_rare():
    rows = [(f"{name} at {n}", f"{name.upper()} {n}") for n, name in enumerate(["ann", "bob", "cy"] * 20)]
    found = look(pairs_of(rows))
    assert found.copies.other_case == 0.5
    assert found.settings["data.copy_case"] == "any"


def test_without_copies_copying_is_off():
    assert look(reversed_words()).settings["model.copying"] is False


def test_small_data_gets_more_epochs():
    small, large = look(reversed_words(60)).settings, look(reversed_words(3000)).settings
    assert small["training.epochs"] > large["training.epochs"]
    assert small["training.batch_size"] < large["training.batch_size"]


@pytest.mark.parametrize("make", [doubled, reversed_words, timers, tenfold, crossed])
def test_settings_make_a_configuration(make):
    found = look(make())
    values = {**found.settings, **{key: some[0] for key, some in found.open.items()}}
    config = Config.load("transducer", [f"{key}={json.dumps(value)}" for key, value in values.items()])
    for key, value in values.items():
        section, name = key.split(".")
        assert getattr(getattr(config, section), name) == value, key


def finding_of(rows, kind):
    (found,) = [finding for finding in look(pairs_of(rows)).findings if finding.kind == kind]
    return found


def test_brackets_in_quotes_make_no_program():
    """It is said that they are plain tokens, not that programs are written in several ways."""
    found = finding_of([(f"say {n}", f'"a ( {n}"') for n in range(30)], "programs")
    assert (found.text, found.warning) == ("Targets are plain tokens, not programs.", False)


def test_programs_that_are_written_in_two_ways():
    rows = [(f"say {n}", f"(f {n})" if n % 2 else f"( f {n} )") for n in range(30)]
    found = finding_of(rows, "programs")
    assert found.text.startswith("Targets are programs (s-expression), but written in several ways: line 2: ")
    assert found.advice.startswith("Write all of them in one way: ")


def test_a_bad_program_that_no_sample_has_is_noticed(monkeypatch):
    monkeypatch.setattr(looking, "MOST_PAIRS", 100)
    pairs = timers(200)
    pairs[1] = pairs_of([("a timer please", "( timer ( hours")])[0]
    found = look(pairs, dev=timers(10))
    assert found.notation is None
    assert found.settings["data.programs"] == "none"
    assert any("199 of 200 targets are programs" in finding.text for finding in found.warnings)


def test_findings_count_units_where_targets_are_in_units():
    units = [finding.text for finding in look(timers()).findings]
    tokens = [finding.text for finding in look(reversed_words()).findings]
    assert any("up to 1 unit for each source token" in text for text in units)
    assert not any("target tokens" in text for text in units)
    assert any("the longest target has 6 tokens" in text for text in tokens)
    assert not any("unit" in text for text in tokens)


@pytest.mark.parametrize("rows", [[("a", "b")], [("a", "b")] * 5, [("a b", "a b")] * 2])
def test_a_few_pairs_are_looked_at_too(rows):
    assert look(pairs_of(rows)).pairs["train"] == len(rows)


def test_the_same_pairs_give_the_same_look():
    """Sets of strings have another order in each process."""
    program = (
        "from ftor.tuning.look import look; from support.pairs import pairs_of; "
        "rows = [(f'say {i} x{i % 7} Y', f'x{i % 7} {i} é') for i in range(60)]; "
        "print(look(pairs_of(rows), pairs_of(rows[:9])).model_dump_json())"
    )
    folder = str(Path(__file__).parents[2])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([*sys.path, folder])},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
