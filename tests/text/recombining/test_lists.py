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


def pairs_of(most):
    """Pairs of up to so many commands."""
    random = Random(1)
    made = []
    for line in range(1, 121):
        verbs, things = random.sample(VERBS, most), random.sample(THINGS, most)
        commands = [f"{verb} {thing}" for verb, thing in zip(verbs, things, strict=True)]
        sentence = random.choice((" and ", " after you ")).join(commands[: random.randint(1, most)])
        made.append(Pair(tuple(sentence.split()), (), line, target_text=program_of(sentence)))
    return made


@pytest.fixture(scope="module")
def pairs():
    return pairs_of(3)


def test_lists_grow_beyond_two_items_if_the_words_between_them_are_the_same():
    pairs = pairs_of(2)
    programs = Programs.learn([pair.target_text for pair in pairs])
    drawn = Recombiner(encode_pairs(programs, pairs), programs, iterations=30).draw(100, seed=0)
    three = [pair for pair in drawn if pair.target_text.count("(") == 4]
    assert any("and" in pair.source for pair in three)
    assert any("after" in pair.source for pair in three)
    for pair in drawn:
        assert pair.target_text == program_of(" ".join(pair.source))


def test_items_are_put_in_where_the_order_of_training_has_them(pairs):
    programs = Programs.learn([pair.target_text for pair in pairs])
    drawn = Recombiner(encode_pairs(programs, pairs), programs, iterations=30).draw(100, seed=0)
    assert len(drawn) == 100
    wrong = [pair for pair in drawn if program_of(" ".join(pair.source)) != pair.target_text]
    assert wrong == []
    four = [pair for pair in drawn if pair.target_text.count("(") == 5]
    assert any("and" in pair.source for pair in four)
    assert any("after" in pair.source for pair in four)
