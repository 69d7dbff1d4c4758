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


def made_from(texts, count=100):
    return substituted([Pair(tuple(s.split()), tuple(t.split()), 0) for s, t in texts.items()], count, seed=0)


def test_brackets_around_a_part_are_one_pair():
    """After `neg` stands `( a + b )`, not `( a ) + ( b )`, though both begin and end with brackets."""
    draw, pairs = Random(0), {}
    names = "abcd"

    def atom(depth):
        inner = draw.choice(names) if depth == 0 or draw.random() < 0.5 else total(depth - 1)
        return f"( {inner} )"

    def total(depth):
        parts = [
            draw.choice(names) if draw.random() < 0.5 else atom(depth) for _ in range(draw.choice((1, 2)))
        ]
        return " + ".join(parts)

    def value(words):
        """The postfix expression, and what is left."""
        one, rest = factor(words)
        while rest[:1] == ["+"]:
            other, rest = factor(rest[1:])
            one = [*one, *other, "+"]
        return one, rest

    def factor(words):
        if words[0] == "neg":
            inner, rest = factor(words[1:])
            return [*inner, "~"], rest
        if words[0] == "(":
            inner, rest = value(words[1:])
            return inner, rest[1:]
        return [words[0].upper()], words[1:]

    for _ in range(500):
        source = draw.choice((total(1), f"neg {atom(1)}"))
        pairs[source] = " ".join(value(source.split())[0])
    made = made_from({source: target for source, target in pairs.items() if " " in source})
    assert len(made) > 50
    for pair in made:
        assert value(list(pair.source)) == ([*pair.target], [])


def test_parts_of_another_size_do_not_fit_if_they_have_other_tokens_beside_them():
    """`k 4 8` is `1 0 4 8`, and `k 3 4 8` is `1 3 4 8`: a word is one digit, or two with `ty`."""
    ones = dict(zip("abcdefghi", "123456789", strict=True))
    draw, pairs = Random(0), {}
    for _ in range(400):
        one, two, first = (draw.choice("abcdefghi") for _ in range(3))
        short, long = (
            (f"{one} and {two}", ones[one] + ones[two]),
            (f"{one} hundred {two}", ones[one] + "0" + ones[two]),
        )
        words, digits = draw.choice((short, long))
        if draw.random() < 0.6:
            words, digits = f"{first} thousand {words}", ones[first] + digits.zfill(3)
        pairs[words] = " ".join(digits)
    made = made_from(pairs)
    assert made
    for pair in made:
        high, _, low = " ".join(pair.source).rpartition("thousand ")
        digits = "".join(ones[word] for word in low.split() if word in ones)
        digits = digits if "and" in low.split() else "0".join(digits)
        assert "".join(pair.target) == (ones[high[0]] + digits.zfill(3) if high else digits)


def test_a_part_with_a_word_that_is_missing_in_its_place_is_left_out():
    """`before A , B ; C` means `b a c`, so `B ; C` is no part. It seems to be one if A is B."""
    draw, pairs = Random(0), {}

    def verb():
        return draw.choice(("hop", "dash", "skip", "turn", "wait")) + draw.choice(("", " left", " right"))

    def meaning(source):
        found = []
        for part in source.split(" ; "):
            first, comma, second = part.removeprefix("before ").partition(" , ")
            found += [second, first] if comma else [first]
        return " ".join(found).upper()

    for _ in range(400):
        parts = [draw.choice((verb(), f"before {verb()} , {verb()}")) for _ in range(draw.choice((1, 1, 2)))]
        pairs[" ; ".join(parts)] = meaning(" ; ".join(parts))
    made = made_from(pairs)
    assert made
    for pair in made:
        assert meaning(" ".join(pair.source)) == " ".join(pair.target)
