"""Recombined programs of small languages are those that the sentences mean."""

from random import Random

import pytest

from ftor.text.programs import Programs
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair
from ftor.text.recombining import recombined

KINDS, MAKERS, YEARS = ("comedies", "dramas", "westerns"), ("ozu", "varda", "lang"), ("1931", "1948", "1960")
RELATIONS, THINGS = (
    ("lids", "wheels", "owners", "handles", "prices", "makers"),
    ("pots", "vans", "bikes", "drums"),
)


def film(words):
    """`short french dramas that ozu made`: what follows is outside of adjectives, and those nest."""
    if "that" in words:
        at = len(words) - 1 - words[::-1].index("that")
        clause = words[at + 1 :]
        test = f"(by {clause[0]})" if clause[1] == "made" else f"(year {clause[2]})"
        return f"(filter {film(words[:at])} {test})"
    if len(words) > 1:
        return f"(filter {film(words[1:])} (is {words[0]}))"
    return f"(genre {words[0]})"


def films(source):
    words = source.split()
    if words[0] == "list":
        return f"(list {film(words[1:])})"
    assert (words[:2], words[-2:]) == (["how", "many"], ["are", "there"])
    return f"(count {film(words[2:-2])})"


def film_sentence(draw):
    adjectives = draw.sample(("short", "french", "silent"), draw.choice((0, 1, 1, 2)))
    clauses = [f"that {draw.choice(MAKERS)} made", f"that are from {draw.choice(YEARS)}"]
    words = [*adjectives, draw.choice(KINDS), *draw.sample(clauses, draw.choice((0, 1)))]
    return draw.choice(("list {}", "how many {} are there")).format(" ".join(words))


def thing(words):
    """`the lids of pots or vans`: a relation is nearer than a union."""
    if "or" in words:
        at = words.index("or")
        return f"(or {thing(words[:at])} {thing(words[at + 1 :])})"
    return words[0] if len(words) == 1 else f"({words[1]} {thing(words[3:])})"


def things(source):
    words = source.split()
    end = words.index("by") if "by" in words else len(words)
    found = thing(words[1:end])
    return f"(show {found})" if end == len(words) else f"(show (sort {found} {words[end + 1]}))"


def thing_sentence(draw):
    def one():
        relations = [f"the {draw.choice(RELATIONS)} of" for _ in range(draw.choice((0, 1, 1, 2)))]
        return " ".join([*relations, draw.choice(THINGS)])

    some = " or ".join(one() for _ in range(draw.choice((1, 1, 2))))
    return f"show {some}{draw.choice(('', ' by price', ' by weight'))}"


@pytest.mark.parametrize(
    ("sentence", "meaning"),
    [(film_sentence, films), (thing_sentence, things)],
    ids=["adjectives and clauses", "relations and unions"],
)
def test_made_pairs_are_right(sentence, meaning):
    draw = Random(0)
    sources = sorted({sentence(draw) for _ in range(250)})
    pairs = [
        Pair(tuple(source.split()), (), line, target_text=meaning(source))
        for line, source in enumerate(sources, 1)
    ]
    programs = Programs.learn([pair.target_text for pair in pairs])
    encoded = encode_pairs(programs, pairs)
    made = recombined(encoded, programs, 300, seed=1, iterations=30)
    assert len(made) > 100
    for pair in made:
        assert pair.target_text == meaning(" ".join(pair.source))
