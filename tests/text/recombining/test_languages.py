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


TRACKS, VERBS = ("bass", "cello", "flute", "organ"), {"raise": "+", "lower": "-"}
GERUNDS = {"raising": "raise", "lowering": "lower", "routing": "route", "panning": "pan", "muting": "mute"}


def statements(clause):
    """`lower the bass and the flute by 3`: the verb and the tail tell what is done to each track."""
    verb, *words = clause.split()
    verb, tracks = GERUNDS.get(verb, verb), [word for word in words if word in TRACKS]
    tail = words[-1]
    assert words[-2] == {"route": "to", "raise": "by", "lower": "by"}.get(verb, words[-2])
    assert tail in {"pan": ("left", "right"), "mute": TRACKS}.get(verb, tail)
    made = {
        "route": f"send({{}}, bus={tail})",
        "pan": f"pan({{}}, {tail[0].upper()})",
        "mute": "mute({})",
    }.get(verb, f"gain({{}}, {VERBS.get(verb)}{tail})")
    return [made.format(track) for track in tracks]


def mixer(source):
    """`, then` is looser than `after`, which turns the order round."""
    done = []
    for group in source.split(" , then "):
        for clause in reversed(group.split(" after ")):
            done += statements(clause)
    return "; ".join(done)


def mixer_sentence(draw):
    def clause(late):
        tracks = draw.sample(TRACKS, draw.choice((1, 1, 2)))
        verb, tail = draw.choice(
            [
                *((verb, f" by {draw.randint(1, 5)}") for verb in VERBS),
                ("route", f" to {draw.choice(('echo', 'delay'))}"),
                ("pan", f" {draw.choice(('left', 'right'))}"),
                ("mute", ""),
            ]
        )
        verb = {plain: gerund for gerund, plain in GERUNDS.items()}[verb] if late else verb
        return f"{verb} the {' and the '.join(tracks)}{tail}"

    text = clause(False)
    for _ in range(draw.choice((0, 1, 1, 2))):
        joint = draw.choice((" , then ", " after "))
        text += joint + clause(joint == " after ")
    return text


def sale(source):
    """`ann sells lot 7 at 30 online`: what stands together in the sentence is apart in the record."""
    words = source.split()
    numbers = [int(word) for word in words if word.isdigit()]
    via = {"online": "web", "phone": "phone"}[words[-1]]
    if words[0] == "lot":
        return json.dumps(
            {"type": "ask", "lot": numbers[0], "by": words[-2], "via": via, "least": numbers[1]}
        )
    return json.dumps({"type": "sell", "price": numbers[1], "lot": numbers[0], "by": words[0], "via": via})


def sale_sentence(draw):
    first, second = (draw.randint(1, 10 ** draw.randint(1, 4)) for _ in range(2))
    name, via = draw.choice(("ann", "bo", "cy", "di")), draw.choice(("online", "phone"))
    return draw.choice(
        (f"{name} sells lot {first} at {second} {via}", f"lot {first} for {second} from {name} {via}")
    )


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
    [
        (film_sentence, films),
        (thing_sentence, things),
        (node_sentence, nodes),
        (mixer_sentence, mixer),
        (sale_sentence, sale),
        (alarm_sentence, alarms),
    ],
    ids=[
        "adjectives and clauses",
        "relations and unions",
        "constants and functions",
        "statements",
        "records",
        "objects",
    ],
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
