"""Lists of programs become longer than training's."""

from random import Random

import pytest

from ftor.text.programs import Programs, UnitSettings
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair
from ftor.text.recombining import recombined
from ftor.text.recombining.root_lists import chained_lists

UNITS = {"meters": "m", "miles": "mi", "yards": "yd", "feet": "ft"}


def conversion(draw):
    """A number that hardly comes twice, and two units of length."""
    number, (one, other) = draw.randint(100, 9999), draw.sample(sorted(UNITS), 2)
    return f"convert {number} {one} to {other}", f"( convert {number} {UNITS[one]} {UNITS[other]} )"


def texts(draw, size):
    some = [conversion(draw) for _ in range(size)]
    inner = " ".join(target for _, target in some)
    return " also ".join(source for source, _ in some), inner if size == 1 else f"( all {inner} )"


def meaning(source):
    parts = [part.split() for part in " ".join(source).split(" also ")]
    inner = " ".join(f"( convert {n} {UNITS[one]} {UNITS[other]} )" for _, n, one, _, other in parts)
    return inner if len(parts) == 1 else f"( all {inner} )"


@pytest.fixture(scope="module")
def learned():
    draw = Random(0)
    lines = dict(texts(draw, size) for size in [1] * 80 + [2] * 40 + [3] * 20)
    pairs = [
        Pair(tuple(s.split()), tuple(t.split()), i, target_text=t) for i, (s, t) in enumerate(lines.items())
    ]
    programs = Programs.learn(list(lines.values()), None, UnitSettings())
    return encode_pairs(programs, pairs), programs


def test_lists_are_right_and_longer(learned):
    pairs, programs = learned
    made = chained_lists(pairs, programs, 60, seed=0, iterations=50)
    assert max(pair.source.count("also") for pair in made) == 3
    for pair in made:
        assert pair.target_text == meaning(pair.source)
        assert tuple(programs.encode(pair.target_text)) == pair.target


def test_they_are_among_recombined_pairs_once(learned):
    pairs, programs = learned
    made = recombined(pairs, programs, 100, seed=0, iterations=50)
    assert len({pair.source for pair in made}) == len(made)
    assert any(pair.source.count("also") == 3 for pair in made)


def test_programs_without_a_list_around_them_are_left_alone():
    texts = [(f"add {a} and {b}", f"( add {a} {b} )") for a in "abcdefgh" for b in "abcdefgh"]
    pairs = [Pair(tuple(s.split()), tuple(t.split()), 0, target_text=t) for s, t in texts]
    programs = Programs.learn([target for _, target in texts], None, UnitSettings())
    assert chained_lists(encode_pairs(programs, pairs), programs, 10, seed=0, iterations=20) == []
