"""The aligner that moves tokens to words that stay in one place."""

import random

import pytest

from ftor.text.aligning import anchored, sparse
from ftor.text.reading import Pair
from ftor.text.separability import needed_order

DEVICES, ROOMS, VERBS = ("fan", "lamp", "radio", "heater"), ("den", "attic", "porch"), ("raise", "lower")


def pairs_of(lines):
    return [
        Pair(tuple(source.split()), tuple(target.split()), line, None, target)
        for line, (source, target) in enumerate(lines, 1)
    ]


def command(rng, count):
    verb, room = rng.choice(VERBS), rng.choice(ROOMS)
    devices = rng.sample(DEVICES, count)
    source = f"{verb} the {' and the '.join(devices)} in the {room}"
    return source, " ".join(f"{verb.upper()} {room.upper()} {device.upper()} ;" for device in devices)


@pytest.fixture
def commands():
    rng = random.Random(0)
    return pairs_of([command(rng, count) for count in (1, 2, 3) * 40])


@pytest.mark.parametrize("start_token", [False, True])
def test_each_device_writes_its_whole_command(commands, start_token):
    rows = [(posterior.argmax(0) - start_token).tolist() for posterior in anchored(commands, 50, start_token)]
    before = [(posterior.argmax(0) - start_token).tolist() for posterior in sparse(commands, 50, start_token)]
    assert any(needed_order([row for row in some if row >= 0]) == "not separable" for some in before)
    assert all(needed_order(some) == "none" for some in rows)
    for pair, some in zip(commands, rows, strict=True):
        words = [pair.source[row] for row in some]
        spoken = [token.lower() for token in pair.target]
        for place in range(0, len(words), 4):
            assert set(words[place : place + 3]) == {spoken[place + 2]}


def test_nothing_moves_where_a_separable_permutation_is_enough():
    rng = random.Random(1)
    lines = [[rng.choice("abcd") for _ in range(rng.randint(2, 6))] for _ in range(40)]
    pairs = pairs_of([(" ".join(line), " ".join(reversed(line)).upper()) for line in lines])
    for old, new in zip(sparse(pairs, 50, True), anchored(pairs, 50, True), strict=True):
        assert (old == new).all()


def test_pairs_without_anchors_keep_their_links(commands):
    alone = pairs_of([("raise den", "RAISE DEN")])
    old, new = sparse([*commands, *alone], 50, True)[-1], anchored([*commands, *alone], 50, True)[-1]
    assert (old == new).all()


def test_rare_words_are_no_anchors_where_they_are_torn_apart(commands):
    rare = pairs_of(
        [
            (
                "raise the fan and the lamp and the radio in the barn",
                "RAISE BARN FAN ; RAISE BARN LAMP ; RAISE BARN RADIO ;",
            )
        ]
    )
    rows = (anchored([*commands, *rare], 50, True)[-1].argmax(0) - 1).tolist()
    assert "barn" not in {rare[0].source[row] for row in rows}
    assert needed_order(rows) == "none"


def test_pairs_without_scattered_words_keep_their_links(commands):
    others = pairs_of(
        [("open gate", "OPEN GATE"), ("shut gate", "SHUT GATE"), ("open hatch", "OPEN HATCH")] * 8
    )
    both = zip(sparse([*commands, *others], 50, True), anchored([*commands, *others], 50, True), strict=True)
    assert all((old == new).all() for old, new in list(both)[len(commands) :])
