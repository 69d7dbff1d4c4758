"""Words stand for each other, with their tokens, where all of training agrees."""

import os
import subprocess
import sys
from itertools import product
from random import Random

import pytest

from ftor.text.reading import Pair
from ftor.text.recombining import recombined
from ftor.text.recombining.swapping import Swaps

VERBS = {"dip": "DIP", "wave": "ARMS", "stomp": "STAMP", "turn": ""}
SIDES = {"left": "L", "right": "R"}
TIMES = {"": 1, "twice": 2, "thrice": 3}


def clause(text):
    words = text.split()
    side = SIDES[words[1]] if len(words) > 1 and words[1] in SIDES else ""
    return f" {side} {VERBS[words[0]]}" * TIMES.get(words[-1], 1)


def meaning(source):
    """`dip left twice after wave`: what comes after is first."""
    return tuple("".join(clause(part) for part in reversed(source.split(" after "))).split())


CLAUSES = [
    " ".join(filter(None, parts))
    for parts in product(VERBS, ("", *SIDES), TIMES)
    if parts[:2] != ("turn", "")
]
HELD_OUT = {one for one in CLAUSES if one.startswith("wave") and one.endswith("thrice")}


def pairs_of(sources):
    return [Pair(tuple(source.split()), meaning(source), line) for line, source in enumerate(sources, 1)]


def training_pairs():
    known = [one for one in CLAUSES if one not in HELD_OUT]
    both = [f"{one} after {other}" for one, other in product(known, known)]
    return pairs_of([*known, *Random(0).sample(both, 250)])


@pytest.fixture(scope="module")
def training():
    return training_pairs()


def test_made_pairs_are_right_and_have_clauses_that_training_lacks(training):
    swaps, random = Swaps(training), Random(0)
    made = [new for pair in training * 3 if (new := swaps.drawn(pair, random)) is not None]
    assert len(made) > 200
    for pair in made:
        assert pair.target == meaning(" ".join(pair.source))
    new = {one for pair in made for one in " ".join(pair.source).split(" after ")} & HELD_OUT
    assert len(new) >= 2


def test_words_without_a_token_and_words_of_the_sentence_are_left_alone(training):
    swaps, random = Swaps(training), Random(0)
    for source, wanted in (
        ("turn left thrice", {"turn right thrice"}),
        ("dip after wave after stomp", set()),
    ):
        (pair,) = pairs_of([source])
        found = {swaps.drawn(pair, random) for _ in range(50)} - {None}
        assert {" ".join(new.source) for new in found} == wanted
        assert all(new.target == meaning(" ".join(new.source)) for new in found)


def test_swapped_pairs_are_among_the_recombined(training):
    known = {one for pair in training for one in " ".join(pair.source).split(" after ")}
    made = recombined(training, None, 300, seed=0, iterations=20)
    new = {one for pair in made for one in " ".join(pair.source).split(" after ")} - known
    assert new == new & HELD_OUT
    assert new


def test_words_that_differ_in_two_ways_are_no_swap(training):
    """A second meaning of a word is seen, although most sentences show the first one."""
    odd = [Pair(("dip", "now"), ("DIP",), 1), Pair(("stomp", "now"), ("STOP",), 2)]
    assert Swaps(training)._swaps["dip"]
    assert {swap.other for swap in Swaps([*training, *odd])._swaps["dip"]} == {"wave"}


def test_swaps_do_not_depend_on_the_order_of_sets():
    program = (
        "from ftor.text.reading import Pair\n"
        "from ftor.text.recombining import swapping\n"
        "swapping.LEAST = 1\n"
        "rows = 'a b,c b,a d,c d,a c,b a,d a,c a,b c,d c,b d,d b'.split(',')\n"
        "pairs = [Pair(tuple(row.split()), tuple(row.upper().split()), 1) for row in rows]\n"
        "print(swapping.Swaps(pairs)._swaps)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_words_that_only_stand_between_others_are_left_alone():
    """`*` and `+` differ alike in short formulas, but not in longer ones."""
    short = [
        f"{one} {sign} {other}" for one in "abcdef" for sign in "*+" for other in "abcdef" if one != other
    ]
    pairs = [
        Pair(tuple(text.split()), (text[0], text[4], text[2]), line) for line, text in enumerate(short, 1)
    ]
    assert set(Swaps(pairs)._swaps) == set("abcdef")
