"""Requests to JSON values."""

import json
from random import Random
from typing import Any

NAMES = ("anna", "bob", "carol", "david", "emma")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")
ERRANDS = ("call", "visit", "email", "pay")
ARTISTS = ("adele", "queen", "abba", "bach")
ROOMS = ("kitchen", "office", "bathroom")
DISHES = ("pizza", "soup", "salad", "curry", "pasta")
EXTRAS = ("cheese", "olives", "onions", "chili")
STREETS = ("main street", "church lane", "mill road", "park avenue")


def assistant(random: Random, hard: bool) -> tuple[str, str]:
    """`wake me at 7 on monday` to `[{"do": "alarm", "hour": 7, "day": "monday"}]`."""
    requests = [_request(random) for _ in range(random.randint(2, 3) if hard else random.randint(1, 2))]
    return " and ".join(source for source, _ in requests), json.dumps([value for _, value in requests])


def _request(random: Random) -> tuple[str, dict[str, Any]]:
    hour, day, name, errand, artist, room = map(
        random.choice, (range(1, 13), DAYS, NAMES, ERRANDS, ARTISTS, ROOMS)
    )
    kind = random.choice(("alarm", "remind", "play"))
    value: dict[str, Any] = {"do": kind}
    if kind == "alarm":
        source, value = f"wake me at {hour}", value | {"hour": hour}
        if random.random() < 0.5:
            source, value = f"{source} on {day}", value | {"day": day}
    elif kind == "remind":
        source, value = f"remind me to {errand} {name}", value | {"what": errand, "who": name}
        if random.random() < 0.5:
            source, value = f"on {day} {source}", value | {"day": day}
    else:
        source, value = f"play {artist}", value | {"artist": artist}
        if random.random() < 0.5:
            source, value = f"{source} in the {room}", value | {"where": {"room": room}}
    return source, value


def orders(random: Random, hard: bool) -> tuple[str, str]:
    """`two pizzas with cheese to mill road` to `{"to":"mill road","items":[…]}`."""
    items = [_item(random) for _ in range(random.randint(2, 3) if hard else random.randint(1, 2))]
    value: dict[str, Any] = {}
    source = " and ".join(text for text, _ in items)
    if random.random() < 0.5:
        street = random.choice(STREETS)
        source, value = f"please deliver {source} to {street}", {"to": street}
    else:
        source = f"i pick up {source}"
    return source, json.dumps(value | {"items": [item for _, item in items]}, separators=(",", ":"))


def _item(random: Random) -> tuple[str, dict[str, Any]]:
    dish = random.choice(DISHES)
    number, word = random.choice(((1, "one"), (2, "two"), (3, "three")))
    source, value = f"{word} {dish}", {"dish": dish, "number": number}
    extras = random.sample(EXTRAS, random.choice((0, 0, 1, 2)))
    if extras:
        source, value = f"{source} with {' , '.join(extras)}", value | {"extras": extras}
    return source, value
