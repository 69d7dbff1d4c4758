"""Pairs put together from others are pairs of the same language."""

from random import Random

import pytest

from ftor.text.reading import Pair
from ftor.text.recombining.substituting import substituted


def expression(draw, depth):
    if depth == 0 or draw.random() < 0.3:
        return draw.choice("abc")
    return expression(draw, depth - 1), draw.choice("+-"), expression(draw, depth - 1)


def infix(tree):
    """Every operation is in brackets."""
    if isinstance(tree, str):
        return tree
    return f"( {infix(tree[0])} {tree[1]} {infix(tree[2])} )"


def postfix(tree):
    return tree if isinstance(tree, str) else f"{postfix(tree[0])} {postfix(tree[2])} {tree[1]}"


def read(tokens):
    """The tree of an infix expression."""
    token = tokens.pop(0)
    if token != "(":
        return token
    tree = read(tokens), tokens.pop(0), read(tokens)
    assert tokens.pop(0) == ")"
    return tree


def pairs_of(count, depth=2):
    draw, sources = Random(0), {}
    while len(sources) < count:
        tree = expression(draw, depth)
        sources[infix(tree)] = postfix(tree)
    return [Pair(tuple(s.split()), tuple(t.split()), i) for i, (s, t) in enumerate(sources.items())]


def test_new_pairs_are_right_and_longer():
    pairs = pairs_of(120)
    made = substituted(pairs, 100, seed=0)
    assert len(made) > 50
    for pair in made:
        assert postfix(read(list(pair.source))).split() == list(pair.target)
    assert max(len(pair.target) for pair in made) > max(len(pair.target) for pair in pairs)


def test_new_pairs_are_new_and_the_seed_draws_them():
    pairs = pairs_of(120)
    made = substituted(pairs, 100, seed=0)
    assert not {pair.source for pair in made} & {pair.source for pair in pairs}
    assert len({pair.source for pair in made}) == len(made)
    assert made == substituted(pairs, 100, seed=0) != substituted(pairs, 100, seed=1)


@pytest.mark.parametrize("count", [0, 3])
def test_no_more_than_wanted(count):
    assert len(substituted(pairs_of(120), count, seed=0)) == count


def test_a_context_that_changes_its_part_is_not_free():
    words = "abcdefgh"
    parts = [Pair((a, b), (a.upper(), b.upper()), 0) for a in words for b in words]
    turned = [Pair(("back", *pair.source), pair.target[::-1], 0) for pair in parts]
    assert substituted([*parts, *turned], 10, seed=0) == []


def test_a_part_that_changes_what_stands_around_it_is_left_out():
    """A number of three groups has another name for the first comma than one of two."""
    names = {"1": "one", "2": "two", "3": "three", "4": "four", "5": "five"}
    groups = [a + b for a in names for b in names]
    spell = {group: f"{names[group[0]]} ty {names[group[1]]}" for group in groups}
    draw, pairs = Random(0), {}
    for size in [1] * 20 + [2] * 60 + [3] * 60:
        drawn = draw.choices(groups, k=size)
        scales = ["million", "thousand"][3 - size :] if size > 1 else []
        words = [spell[drawn[0]], *(f"{s} {spell[g]}" for s, g in zip(scales, drawn[1:], strict=True))]
        pairs[" , ".join(" ".join(group) for group in drawn)] = " ".join(words)
    made = substituted([Pair(tuple(s.split()), tuple(t.split()), 0) for s, t in pairs.items()], 100, seed=0)
    assert len(made) > 50
    for pair in made:
        assert "million" in pair.target or pair.source.count(",") < 2
        assert pair.source.count(",") <= 2
        assert all(len(group.split()) == 2 for group in " ".join(pair.source).split(","))


ROOMS, THINGS, MUSIC = ("hall", "attic", "office"), ("lamp", "fan", "heater"), ("jazz", "rock", "news")


def test_parts_fit_the_words_around_them():
    """`light the hall lamp` has a room already, so `in the attic` does not follow it."""
    draw, pairs = Random(0), {}
    for _ in range(400):
        room, thing, hours = draw.choice(ROOMS), draw.choice(THINGS), draw.randint(2, 9)
        source, target, place = draw.choice(
            (
                (f"light the {thing}", f"light {thing}", ""),
                (f"light the {thing} in the {room}", f"light {thing}", f" room {room}"),
                (f"light the {room} {thing}", f"light {thing}", f" room {room}"),
                (f"play {draw.choice(MUSIC)} please", "play", ""),
            )
        )
        when = draw.random() < 0.4
        pairs[source + f" in {hours} hours" * when] = target + place + f" wait {hours}" * when
    made = substituted([Pair(tuple(s.split()), tuple(t.split()), 0) for s, t in pairs.items()], 100, seed=0)
    assert made
    for pair in made:
        assert pair.target.count("room") <= 1
        assert pair.target.count("wait") <= 1
