"""Recombined programs of small languages are those that the sentences mean."""

import json
from random import Random

import pytest

from ftor.text.programs import Programs
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair
from ftor.text.recombining import recombined

KINDS, MAKERS, YEARS = ("comedies", "dramas", "westerns"), ("ozu", "varda", "lang"), ("1931", "1948", "1960")
RELATIONS = ("lids", "wheels", "owners", "handles", "prices", "makers")
THINGS = ("pots", "vans", "bikes", "drums")


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


NODES = ("farms", "mills", "barns", "wells")


def node(words):
    """`farms near wells of mills`: a word names a constant, or a function of what follows `of`."""
    inner = words.index("of") if "of" in words else len(words)
    clauses = words[1:inner]
    found = words[0] if inner == len(words) else f"{words[0]}({node(words[inner + 1 :])})"
    for at in range(0, len(clauses), 2):
        found = f"{clauses[at]}({found}, {clauses[at + 1]})"
    return found


def nodes(source):
    words = source.split()
    if words[0] == "list":
        return f"show({node(words[1:])})"
    at = words.index("than")
    return f"more({node(words[1:at])}, {node(words[at + 1 :])})"


def node_sentence(draw):
    def one():
        some = []
        for name in draw.sample(NODES, draw.choice((1, 1, 2, 2, 3))):
            clauses = [f"near {draw.choice(('york', 'leeds', 'bath'))}", f"since {draw.choice(YEARS)}"]
            some.append(" ".join([name, *draw.sample(clauses, draw.choice((0, 0, 1, 2)))]))
        return " of ".join(some)

    return draw.choice((f"list {one()}", f"list {one()}", f"more {one()} than {one()}"))


def alarm(words):
    days = [word[:3] for word in words if word.endswith("days")]
    hour = next(int(word) for word in words if word.isdigit())
    assert words.count("wake") == words.count("me") == words.count("at") == 1
    return {"alarm": hour} | ({"days": days} if days else {})


def alarms(source):
    if source.startswith("unless "):
        reason, rest = source.removeprefix("unless ").split(" , ", 1)
        return json.dumps({"unless": reason.split()[-1], "do": alarm(rest.split())})
    parts = [alarm(part.split()) for part in source.split(" and also ")]
    return json.dumps({"all": parts} if len(parts) > 1 else parts[0])


def alarm_sentence(draw):
    def one():
        hour, some = draw.randint(5, 11), draw.sample(("mondays", "fridays", "sundays"), draw.choice((1, 2)))
        days = " and ".join(some)
        return draw.choice(
            (f"wake me at {hour}", f"wake me on {days} at {hour}", f"on {days} wake me at {hour}")
        )

    return draw.choice(
        (one(), f"unless it {draw.choice(('snows', 'rains'))} , {one()}", f"{one()} and also {one()}")
    )


@pytest.mark.parametrize(
    ("sentence", "meaning"),
    [(film_sentence, films), (thing_sentence, things), (node_sentence, nodes), (alarm_sentence, alarms)],
    ids=["adjectives and clauses", "relations and unions", "constants and functions", "objects"],
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
