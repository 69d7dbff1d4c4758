"""Chained pairs are pairs of the same language."""

import re
from random import Random

import pytest

from ftor.text.reading import Pair
from ftor.text.recombining import recombined
from ftor.text.recombining.chaining import Chains, Joint

MONTHS = {"may": "05", "june": "06", "july": "07", "march": "03", "april": "04"}


def date(draw):
    month, day, year = draw.choice(list(MONTHS)), draw.randint(10, 28), draw.randint(2010, 2029)
    return f"{month} {day} {year}", f"{year} - {MONTHS[month]} - {day}"


def joined(draw, word, token, count=2):
    parts = [date(draw) for _ in range(count)]
    return f" {word} ".join(s for s, _ in parts), f" {token} ".join(t for _, t in parts)


def pairs_of(texts):
    return [Pair(tuple(s.split()), tuple(t.split()), i) for i, (s, t) in enumerate(dict(texts).items())]


@pytest.fixture(scope="module")
def dates():
    """Give single dates, two joined by `and`, and ranges, whose `from` asks for a `to`."""
    draw = Random(0)
    ranges = [joined(draw, "to", "to") for _ in range(40)]
    return pairs_of(
        [date(draw) for _ in range(100)]
        + [joined(draw, "and", ",") for _ in range(40)]
        + [(f"from {source}", target) for source, target in ranges]
    )


def translated(source):
    """The target of a sentence of single dates that are joined by `and`."""
    dates = (part.split() for part in " ".join(source).split(" and "))
    return " , ".join(f"{year} - {MONTHS[month]} - {day}" for month, day, year in dates).split()


def test_the_word_that_joins_is_found(dates):
    assert Chains(dates, 100).joints == [Joint(("and",), (",",), False)]


def test_chains_are_right_and_longer(dates):
    made = Chains(dates, 100).draw(100, seed=0)
    plain = [pair for pair in made if "from" not in pair.source]
    assert len(made) == 100
    assert len(plain) > 40
    for pair in plain:
        assert translated(pair.source) == list(pair.target)
    assert max(pair.source.count("and") for pair in made) == 2
    assert max(len(pair.target) for pair in made) > max(len(pair.target) for pair in dates)


def test_chains_are_new_and_the_seed_draws_them(dates):
    chains = Chains(dates, 100)
    made = chains.draw(50, seed=0)
    assert not {pair.source for pair in made} & {pair.source for pair in dates}
    assert len({pair.source for pair in made}) == len(made)
    assert made == chains.draw(50, seed=0) != chains.draw(50, seed=1)


def test_targets_that_change_places_are_chained_in_reverse():
    draw = Random(0)
    both = [(date(draw), date(draw)) for _ in range(60)]
    swapped = [(f"{first[0]} after you {second[0]}", f"{second[1]} {first[1]}") for first, second in both]
    chains = Chains(pairs_of([date(draw) for _ in range(100)] + swapped), 100)
    assert chains.joints == [Joint(("after", "you"), (), True)]
    made = chains.draw(50, seed=0)
    assert max(pair.source.count("after") for pair in made) == 2
    for pair in made:
        dates = " ".join(pair.source).split(" after you ")
        assert [token for date in reversed(dates) for token in translated(date.split())] == list(pair.target)


def test_a_word_whose_neighbours_mean_something_else_together_joins_nothing():
    draw = Random(0)
    joins = [joined(draw, "and", ",") for _ in range(40)]
    scrambled = [(source, " ".join(reversed(target.split()))) for source, target in joins]
    pairs = pairs_of([date(draw) for _ in range(100)] + scrambled)
    assert [joint for joint in Chains(pairs, 100).joints if not joint.is_swapped] == []


def test_recombined_pairs_have_texts(dates):
    for pair in recombined(dates, None, 20, seed=0, iterations=50):
        assert pair.target_text == " ".join(pair.target)


def test_digits_and_commas_of_numbers_join_nothing():
    """`7 , 4 5 , 6 1` has a comma for a million and one for a thousand, and `4` stands between digits."""
    draw, names = Random(0), ["nil", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

    def group():
        digits = [draw.randint(1, 9) for _ in range(draw.randint(1, 2))]
        tens = [names[digits[0]], "ty"] if len(digits) == 2 else []
        return " ".join(map(str, digits)), " ".join([*tens, names[digits[-1]]])

    numbers = []
    for size in [1] * 60 + [2] * 60 + [3] * 60:
        groups = [group() for _ in range(size)]
        scales = [*["million", "thousand"][2 - (size - 1) :], ""]
        target = " ".join(f"{words} {scale}" for (_, words), scale in zip(groups, scales, strict=True))
        numbers.append((" , ".join(digits for digits, _ in groups), target))
    assert Chains(pairs_of(numbers), 100).joints == []


SWAPS = "after you"


def commands(draw, chain):
    """Dates with joints between them: `after you` joins two dates before `and` does."""
    groups, source = [[]], ""
    for joint in (None, *chain):
        text, target = date(draw)
        if joint == "and":
            groups.append([])
        source += f" {joint} {text}" if joint else text
        groups[-1].insert(0, target)
    return source, " ; ".join(target for group in groups for target in group)


def meaning(source):
    groups = [part.split(f" {SWAPS} ") for part in " ".join(source).split(" and ")]
    dates = [date for group in groups for date in reversed(group)]
    return " ; ".join(" ".join(translated(date.split())) for date in dates).split()


def test_joints_of_several_kinds_are_put_together_as_in_training():
    draw = Random(0)
    singles = [commands(draw, ()) for _ in range(100)]
    twos = [commands(draw, (joint,)) for joint in ("and", SWAPS) for _ in range(40)]
    threes = [commands(draw, chain) for chain in (("and", SWAPS), (SWAPS, "and")) for _ in range(30)]
    made = Chains(pairs_of(singles + twos + threes), 100).draw(200, seed=0)
    assert sum("and" in pair.source and "after" in pair.source for pair in made) > 30
    assert max(pair.source.count("and") + pair.source.count("after") for pair in made) == 3
    for pair in made:
        assert meaning(pair.source) == list(pair.target)


def test_joints_that_training_never_has_together_are_not_mixed_if_the_order_depends_on_it():
    draw = Random(0)
    singles = [commands(draw, ()) for _ in range(100)]
    twos = [commands(draw, (joint,)) for joint in ("and", SWAPS) for _ in range(40)]
    made = Chains(pairs_of(singles + twos), 100).draw(100, seed=0)
    assert made
    assert not any("and" in pair.source and "after" in pair.source for pair in made)


def test_joints_that_keep_the_order_are_mixed():
    draw = Random(0)
    texts = [date(draw) for _ in range(100)]
    texts += [joined(draw, *both) for both in (("and", ","), ("until", "..")) for _ in range(40)]
    made = Chains(pairs_of(texts), 100).draw(100, seed=0)
    both = [pair for pair in made if "and" in pair.source and "until" in pair.source]
    assert both
    for pair in both:
        dates = translated(" ".join(pair.source).replace("until", "and").split())
        seen = [token for token in pair.source if token in ("and", "until")]
        expected = [{"and": ",", "until": ".."}[seen.pop(0)] if token == "," else token for token in dates]
        assert list(pair.target) == expected


def test_joints_that_share_words_are_told_apart():
    """`and` and `and then` keep the order, `but first` and `but before that` swap all that is before them."""
    draw = Random(0)

    def sentence(size):
        source, target = date(draw)
        for _ in range(size - 1):
            joint = draw.choice(("and", "and then", "but first", "but before that"))
            more, other = date(draw)
            source = f"{source} {joint} {more}"
            target = f"{target} ; {other}" if joint.startswith("and") else f"{other} ; {target}"
        return source, target

    def order(source):
        parts = re.split(" (and then|and|but first|but before that) ", " ".join(source))
        dates = [" ".join(translated(parts[0].split()))]
        for joint, part in zip(parts[1::2], parts[2::2], strict=True):
            dates.insert(len(dates) if joint.startswith("and") else 0, " ".join(translated(part.split())))
        return " ; ".join(dates).split()

    chains = Chains(pairs_of([sentence(size) for size in [1] * 80 + [2] * 150 + [3] * 100]), 100)
    assert {" ".join(joint.words) for joint in chains.joints} == {
        "and",
        "and then",
        "but first",
        "but before that",
    }
    made = chains.draw(200, seed=0)
    assert any({"and", "but"} <= {*pair.source} for pair in made)
    for pair in made:
        assert order(pair.source) == list(pair.target)


ONES = dict(
    zip("123456789", ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"), strict=True)
)


def number_words(digits):
    """`3 2 1 8 8` is `drei zwei tausend ein hundert acht acht`, with a zero for what is not said."""
    low, high = digits[-3:], digits[:-3]
    hundreds = [ONES[low[0]], "hundert"] if len(low) == 3 and low[0] != "0" else []
    tens = [ONES[digit] for digit in low[-2:] if digit != "0"]
    return [*(ONES[digit] for digit in high), *(["tausend"] if high else []), *hundreds, *tens]


def test_a_word_that_asks_for_three_digits_joins_nothing():
    """`tausend` before three digits looks like a joint, but before two digits they get a zero."""
    draw, pairs = Random(0), {}
    for _ in range(400):
        digits = "".join(draw.choices("123456789", k=draw.choice((1, 2, 3, 3, 4, 5, 5))))
        zeros = [-at for at in (2, 3) if len(digits) > at and draw.random() < 0.06]
        digits = "".join("0" if at - len(digits) in zeros else digit for at, digit in enumerate(digits))
        pairs[" ".join(number_words(digits))] = " ".join(digits)
    assert Chains(pairs_of(pairs.items()), 100).joints == []


def test_sentences_whose_order_a_joint_could_change_are_not_chained_with_it():
    """Training has `only in case you made A B` for `b a` and `A and B`, but never both."""
    draw = Random(0)
    both = [(date(draw), date(draw)) for _ in range(120)]
    swapped = [(f"{one[0]} but only if you had {two[0]}", f"{two[1]} {one[1]}") for one, two in both]
    joins = [joined(draw, "and", ";") for _ in range(80)]
    made = Chains(pairs_of([date(draw) for _ in range(100)] + swapped + joins), 100).draw(100, seed=0)
    assert len(made) > 50
    assert not any({"and", "if"} <= {*pair.source} for pair in made)


def test_targets_that_can_be_split_in_several_ways_are_no_parts():
    """In `crawl ; before crawl , hop` the target `CRAWL HOP CRAWL` has the first verb at both ends."""
    draw = Random(0)

    def command():
        verb, way = draw.choice(("hop", "crawl", "skip")), draw.choice(("", " west", " east"))
        return verb + way, f"{way.strip()} {verb}".upper().split()

    def either():
        one, other = command(), command()
        return draw.choice((one, (f"before {one[0]} , {other[0]}", other[1] + one[1])))

    def meaning(source):
        found = []
        for part in source.split(" ; "):
            parts = part.removeprefix("before ").split(" , ")[::-1]
            found += [token for one in parts for token in one.upper().split()[::-1]]
        return found

    texts = [[either() for _ in range(draw.choice((1, 2, 2)))] for _ in range(300)]
    pairs = [
        (" ; ".join(s for s, _ in some), " ".join(t for _, target in some for t in target)) for some in texts
    ]
    made = Chains(pairs_of(pairs), 100).draw(300, seed=0)
    assert len(made) > 50
    for pair in made:
        assert meaning(" ".join(pair.source)) == list(pair.target)
