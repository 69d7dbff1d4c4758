"""Items of lists: the words between their phrases say in which order they are."""

from random import Random

import pytest

from ftor.text.programs import Programs
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair
from ftor.text.recombining import Recombiner

VERBS = ("wash", "bring", "fill", "hide")
THINGS = ("cups", "plates", "forks", "knives", "pots")


def program_of(sentence):
    """`wash cups and fill pots` is in order, `wash cups after you fill pots` is reversed. No mixtures."""
    is_reversed = " after you " in sentence
    commands = sentence.split(" after you " if is_reversed else " and ")
    assert all(len(command.split()) == 2 for command in commands)
    return f"( do {' '.join(f'( {command} )' for command in commands[:: -1 if is_reversed else 1])} )"


@pytest.fixture(scope="module")
def pairs():
    random = Random(1)
    made = []
    for line in range(1, 121):
        verbs, things = random.sample(VERBS, 3), random.sample(THINGS, 3)
        commands = [f"{verb} {thing}" for verb, thing in zip(verbs, things, strict=True)]
        sentence = random.choice((" and ", " after you ")).join(commands[: random.randint(1, 3)])
        made.append(Pair(tuple(sentence.split()), (), line, target_text=program_of(sentence)))
    return made


def test_items_are_put_in_where_the_order_of_training_has_them(pairs):
    programs = Programs.learn([pair.target_text for pair in pairs])
    drawn = Recombiner(encode_pairs(programs, pairs), programs, iterations=30).draw(100, seed=0)
    assert len(drawn) == 100
    wrong = [pair for pair in drawn if program_of(" ".join(pair.source)) != pair.target_text]
    assert wrong == []
    four = [pair for pair in drawn if pair.target_text.count("(") == 5]
    assert any("and" in pair.source for pair in four)
    assert any("after" in pair.source for pair in four)
