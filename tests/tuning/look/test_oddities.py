"""Pairs that contradict each other or differ from the rest. Each finding is absent from sound pairs."""

import random
from pathlib import Path

import pytest

from ftor.tuning.look import look
from support.pairs import pairs_of

WORDS = {"red": "rouge", "blue": "bleu", "small": "petit", "dog": "chien", "cat": "chat", "sees": "voit"}


def sound(count=100):
    """Different sentences, word by word."""
    draw = random.Random(1)
    sources = {tuple(draw.choices(list(WORDS), k=draw.randint(3, 6))): None for _ in range(2 * count)}
    return [(" ".join(words), " ".join(WORDS[word] for word in words)) for words in list(sources)[:count]]


def found(rows, kind, **others):
    looked = look(pairs_of(rows), **{name: pairs_of(pairs) for name, pairs in others.items()})
    return [finding for finding in looked.findings if finding.kind == kind]


def test_sound_pairs_have_no_warnings():
    assert look(pairs_of(sound())).warnings == []


def with_row(source, target):
    return [*sound(), (source, target)]


@pytest.mark.parametrize(
    ("kind", "rows", "lines"),
    [
        ("contradictions", with_row(sound()[0][0], "bleu"), (1, 101)),
        ("duplicates", [*sound(), sound()[2]], (101,)),
        ("lengths", with_row("dog", "chien " * 12), (101,)),
        ("untranslated", with_row("red dog cat", "red dog cat"), (101,)),
        ("characters", with_row("red собака cat", "rouge chien chat"), (101,)),
        ("characters", with_row("red d\u200bog", "rouge chien"), (101,)),
        ("characters", with_row("red cafÃ© dog", "rouge cafe chien"), (101,)),
        ("too-long", with_row("red " * 3000, "rouge " * 3000), (101,)),
    ],
)
def test_a_pair_that_differs_is_named(kind, rows, lines):
    (finding,) = found(rows, kind)
    assert finding.lines == lines
    assert found(sound(), kind) == []


def test_a_long_line_changes_no_other_setting():
    plain, long = look(pairs_of(sound())), look(pairs_of(with_row("red " * 3000, "red " * 3000)))
    assert long.copies == plain.copies
    assert long.settings.pop("data.max_length") == 100
    assert long.settings == plain.settings


@pytest.mark.parametrize(("count", "times"), [(10, 1), (58, 2)])
@pytest.mark.parametrize("sides", [(3000, 3000), (3000, 3), (3, 3000)])
def test_long_lines_among_few_cost_only_themselves(count, times, sides):
    source, target = sides
    plain = look(pairs_of(sound(count)))
    found = look(pairs_of([*sound(count), *[("red " * source, "rouge " * target)] * times]))
    (finding,) = [one for one in found.findings if one.kind == "too-long"]
    assert finding.lines == tuple(range(count + 1, count + times + 1))
    assert found.settings.pop("data.max_length") == 200
    assert found.settings == plain.settings


def test_lengths_that_merely_vary_leave_nothing_out():
    evenly = [("red " * length, "rouge " * length) for length in range(2, 61)]
    assert not found(evenly, "too-long")
    assert not found([*sound(95), *[("red " * 40, "rouge " * 40)] * 5], "too-long")


def test_a_copied_pair_is_nothing_special_where_much_is_copied():
    rows = [(f"{source} {source}", f"{source} {target}") for source, target in sound()]
    assert not found([*rows, ("red dog cat", "red dog cat")], "untranslated")


def test_a_header_is_named():
    (finding,) = found([("Source", "Target"), *sound()], "header")
    assert finding.lines == (1,)
    assert found([("utterance", "Logical form"), *sound()], "header")
    assert not found([("source codes", "target codes"), *sound()], "header")


def test_identical_pairs_are_a_warning():
    (finding,) = found([("a b", "c")] * 30, "duplicates")
    assert finding.warning
    assert "All 30 pairs" in finding.text


def test_targets_in_another_order_are_noticed():
    rows = sound()
    targets = [target for _, target in rows]
    random.Random(3).shuffle(targets)
    (finding,) = found(
        [(source, other) for (source, _), other in zip(rows, targets, strict=True)], "strangers"
    )
    assert finding.lines == (1, 2, 3, 4, 5)
    assert finding.message({"train": Path("a.tsv")}).startswith("a.tsv:1: Sources say nothing")
    assert not found(rows, "strangers")


def test_words_without_spaces_are_noticed():
    rows = [("".join(random.Random(i).choices("abcde", k=5)), f"{i}x") for i in range(40)]
    assert {finding.text.split()[1] for finding in found(rows, "one-token")} == {"source", "target"}


def test_programs_without_spaces_are_not_single_words():
    assert not found([(f"open door {i}", f"do(open(door{i}))") for i in range(40)], "one-token")


def test_words_in_two_cases_are_looked_up_in_lower_case():
    rows = [*sound(), *((source.capitalize(), target) for source, target in sound())]
    (finding,) = found(rows, "case")
    assert finding.settings == {"data.lowercase": True}
    different = [*sound(), *((source.capitalize(), target + " !") for source, target in sound())]
    assert not found(different, "case")


def test_marks_at_the_end_of_words_are_noticed():
    assert found([(source + "?", target) for source, target in sound()], "punctuation")
    assert not found([(source + " ?", target) for source, target in sound()], "punctuation")


def test_quotes_around_copied_words_are_noticed():
    rows = [(f"call person{i}", f"phone “person{i}” now") for i in range(40)]
    assert found(rows, "quotes")
    assert not found([(s, t.replace("“", "").replace("”", "")) for s, t in rows], "quotes")
    plain = [(s, t.replace("“", '"').replace("”", '"')) for s, t in rows]
    assert not found(plain, "quotes"), "a rule of data.copy_forms writes them"
    assert found(plain, "forms")


def programs(count=50):
    return [(f"x{i} and y{i % 5}", f"( and x{i} ( of y{i % 5} ) )") for i in range(count)]


def test_the_line_that_is_no_program_is_named():
    (finding,) = found([*programs(), ("one more", "( and x1 ( of y )")], "programs")
    assert finding.warning
    assert finding.lines == (51,)
    assert "50 of 51" in finding.text
    (finding,) = found(programs(), "programs")
    assert not finding.warning
    (finding,) = found(sound(), "programs")
    assert not finding.warning


def prefix_rows(count=100):
    """Programs without brackets."""
    draw, functions = random.Random(0), {"and": 2, "river": 1, "state": 1, "most": 2, "size": 1}

    def tree(depth):
        head = draw.choice(["all", "texas", "utah", *functions] if depth else ["all", "texas", "utah"])
        return [head, *(token for _ in range(functions.get(head, 0)) for token in tree(depth - 1))]

    targets = [" ".join(["answer", *tree(draw.randint(1, 4))]) for _ in range(count)]
    return [(f"tell {target}", target) for target in targets]


@pytest.mark.parametrize("bad", [[0], [16], [99], [0, 1, 99]])
@pytest.mark.parametrize("count", [100, 1000])
def test_the_line_that_is_not_in_prefix_order_is_named(bad, count):
    rows = prefix_rows(count)
    assert look(pairs_of(rows)).notation == "prefix"
    for place in bad:
        rows[place] = rows[place][0], rows[place][1] + " texas utah"
    (finding,) = found(rows, "programs")
    assert finding.warning
    assert finding.lines == tuple(place + 1 for place in bad)
    assert f"{count - len(bad)} of {count} targets are programs (prefix), but not all: line " in finding.text
    assert f"line {bad[0] + 1}: the program is complete before 'texas', token " in finding.text


def test_a_program_in_prefix_order_with_another_beginning_is_named():
    rows = prefix_rows()
    rows[4] = rows[4][0], "state all"
    (finding,) = found(rows, "programs")
    assert "line 5: it begins with 'state', unlike nearly all others" in finding.text


@pytest.mark.parametrize("end", ["", " ."])
@pytest.mark.parametrize("start", ["", "please "])
def test_sentences_are_not_nearly_in_prefix_order(start, end):
    draw = random.Random(0)
    words = [f"w{number}" for number in range(60)]
    weights = [1 / (number + 1) for number in range(60)]
    rows = [start + " ".join(draw.choices(words, weights, k=draw.randint(2, 9))) + end for _ in range(300)]
    (finding,) = found([(row, row) for row in rows], "programs")
    assert "prefix" not in finding.text
    assert not finding.warning


def test_programs_that_are_spaced_differently_are_named():
    (finding,) = found([*programs(), ("x1 and y1", "(and x1 (of y1))")], "programs")
    assert finding.warning
    assert "line 51" in finding.text
