"""Each finding says what follows from it: settings, or advice."""

import random
from typing import get_args

import pytest

from ftor.tuning.look import look
from ftor.tuning.look.findings import Kind
from support.pairs import pairs_of

WORDS = {"red": "rouge", "blue": "bleu", "small": "petit", "dog": "chien", "cat": "chat", "sees": "voit"}


def sentences(count=100):
    draw = random.Random(1)
    sources = {tuple(draw.choices(list(WORDS), k=draw.randint(3, 6))): None for _ in range(2 * count)}
    return [(" ".join(words), " ".join(WORDS[word] for word in words)) for words in list(sources)[:count]]


def letters(order, count=100):
    """Sources of different letters, and targets in another order."""
    draw = random.Random(0)
    rows = [draw.sample("abcdefghij", 4) for _ in range(count)]
    return [(" ".join(row), " ".join(order(row))) for row in rows]


def shuffled():
    targets = [target for _, target in sentences()]
    random.Random(3).shuffle(targets)
    return [(source, target) for (source, _), target in zip(sentences(), targets, strict=True)]


PLAIN = sentences()
NOISE = [(source, " ".join(random.Random(n).choices("xyz", k=5))) for n, (source, _) in enumerate(PLAIN)]
NAMES = [(f"who is person{n} ?", f"( who person{n} )") for n in range(60)]
QUOTED = [(f"call person{n}", f"phone “person{n}” now") for n in range(40)]
FORMS = [(f"wake me on {n}th", f"wake {n}") for n in range(4, 20)]
THINGS = ("lamp", "door", "heater", "fan", "light", "radio")
SHOWN = [(f"show {one}", f"do(show(all(x{one})))") for one in THINGS] * 5
COUNTED = [(f"count {one}", f"do(count(x{one}))") for one in THINGS] * 5
LISTS = [(" ".join("abcd"[:n]), f"[{', '.join('abcd'[:n])}]") for n in (1, 2, 3)] * 10
DATA = {
    "sentences": (PLAIN, []),
    "reversal": (letters(lambda row: [letter.upper() for letter in reversed(row)]), []),
    "in order": (letters(lambda row: [letter.upper() for letter in row]), []),
    "doubling": (letters(lambda row: row + row), []),
    "crossed": (letters(lambda row: [row[place].upper() for place in (1, 3, 0, 2)]), []),
    "noise": (NOISE, []),
    "names": (NAMES, []),
    "quotes": (QUOTED, []),
    "forms": (FORMS, []),
    "forms that do not follow": ([*PLAIN, *FORMS[:2]], []),
    "natural language": ([(f"say w{'a' * n} now", f"SAY {n}") for n in range(1, 120)], []),
    "strangers": (shuffled(), []),
    "header": ([("source", "target"), *PLAIN], []),
    "contradictions": ([*PLAIN, (PLAIN[0][0], "chat")], []),
    "repeated": ([*PLAIN, PLAIN[2]], []),
    "all the same": ([("a b", "c")] * 30, []),
    "one pair": ([("a b", "c")], []),
    "lengths": ([*PLAIN, ("dog", "chien " * 12)], []),
    "too long": ([*PLAIN, ("red " * 3000, "rouge " * 3000)], []),
    "untranslated": ([*PLAIN, ("red dog cat", "red dog cat")], []),
    "characters": ([*PLAIN, ("red собака cat", "rouge chien chat")], []),
    "one token": ([("".join(random.Random(n).choices("abcde", k=5)), f"{n}x") for n in range(40)], []),
    "case": ([*PLAIN, *((source.capitalize(), target) for source, target in PLAIN)], []),
    "punctuation": ([(source + "?", target) for source, target in PLAIN], []),
    "the same": (PLAIN, PLAIN),
    "swapped": (PLAIN, [(target, source) for source, target in PLAIN]),
    "new": (PLAIN, [("green dog", "vert chien"), (" ".join(WORDS) * 3, "chat " * 9)]),
    "joined": (SHOWN + COUNTED, [("show lamp", "do(show(xlamp))")]),
    "refused": (SHOWN + COUNTED, [("count show lamp", "do(count(do(count(xlamp))))")]),
    "lists": (LISTS, [("a b c a b", "[a, b, c, a, b]"), ("a", "[a")]),
    "nearly programs": ([*NAMES, ("who", "( who")], []),
}


@pytest.fixture(scope="module")
def findings():
    looks = {name: look(pairs_of(train), pairs_of(dev)) for name, (train, dev) in DATA.items()}
    return [(name, finding) for name, found in looks.items() for finding in found.findings]


def test_every_finding_says_what_follows(findings):
    silent = [(name, one.kind) for name, one in findings if not (one.settings or one.advice)]
    assert silent == []


def test_there_are_pairs_for_every_kind_of_finding(findings):
    assert {one.kind for _, one in findings} == set(get_args(Kind))


def test_warnings_about_lines_name_them(findings):
    without = {one.kind for _, one in findings if one.warning and not one.lines}
    assert without <= {"quotes", "one-token", "punctuation", "programs"}


@pytest.mark.parametrize(
    ("name", "kind", "advice"),
    [
        ("in order", "reordering", 'model.order="fertility"'),
        ("reversal", "reordering", 'model.order="reordering-fertility"'),
        ("noise", "reordering", "Keep the default model.order"),
        ("reversal", "alignment", "teach the first epochs"),
        ("noise", "alignment", "`ftor align`"),
        ("forms that do not follow", "forms", "do not call for ordinal"),
        ("doubling", "copying", "Try both values"),
    ],
)
def test_what_follows(findings, name, kind, advice):
    (finding,) = [one for data, one in findings if (data, one.kind) == (name, kind)]
    assert advice in finding.advice
