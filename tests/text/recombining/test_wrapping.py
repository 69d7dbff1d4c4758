"""Longer chains of functions than training's, against a parser of the language."""

import random

import pytest

from ftor.text.programs import Programs, UnitSettings
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair
from ftor.text.recombining.recombiner import Recombiner

THINGS = ("cups", "pots", "mugs", "jars", "bowls")


def right(source):
    """`list a or b or c`: the program of the language whose unions nest to the right."""
    first, *others = source.removeprefix("list ").split(" or ", 1)
    thing = first if len(first.split()) == 1 else f"( big {first.split()[1]} )"
    return thing if not others else f"( or {thing} {right(others[0])} )"


def left(source):
    """The program of the language whose differences nest to the left: `a less b less c`."""
    *others, last = source.removeprefix("list ").rsplit(" less ", 1)
    thing = last if len(last.split()) == 1 else f"( big {last.split()[1]} )"
    return thing if not others else f"( less {left(others[0])} {thing} )"


@pytest.mark.parametrize(("word", "program"), [("or", right), ("less", left)])
def test_chains_grow_in_the_way_that_training_nests_them(word, program):
    draw = random.Random(0)
    sources = set()
    while len(sources) < 150:
        things = [
            draw.choice(("", "", "big ")) + thing for thing in draw.sample(THINGS, draw.choice((1, 2, 2, 3)))
        ]
        sources.add("list " + f" {word} ".join(things))
    texts = [(source, f"( list {program(source)} )") for source in sorted(sources)]
    units = Programs.learn([target for _, target in texts], settings=UnitSettings(count=1000))
    pairs = [
        Pair(tuple(source.split()), tuple(target.split()), line, target_text=target)
        for line, (source, target) in enumerate(texts, 1)
    ]
    made = Recombiner(encode_pairs(units, pairs), units, 10).draw(150, 0)
    assert [pair.target_text for pair in made] == [
        f"( list {program(' '.join(pair.source))} )" for pair in made
    ]
    assert sum(pair.source.count(word) == 3 for pair in made) >= 15  # training has at most two
