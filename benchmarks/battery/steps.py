"""Commands to sequences of steps, in the manner of SCAN."""

from collections.abc import Callable
from random import Random

VERBS = {"walk": "WALK", "run": "RUN", "jump": "JUMP", "look": "LOOK"}
TURNS = {"left": "LTURN", "right": "RTURN"}
TIMES = {"": 1, "twice": 2, "thrice": 3}
MOVES = {"crawl": "C", "swim": "S", "dig": "D", "rest": "R"}
SIDES = {"north": "N", "south": "Z", "east": "E"}
MULTIPLES = {"": 1, "double": 2, "triple": 3}

Phrase = Callable[[Random], tuple[str, list[str]]]

LONGEST_PAIR = 14
LONGEST_TEST = 30


def scan(random: Random, hard: bool) -> tuple[str, str]:
    """`jump around left after walk twice` to `WALK WALK LTURN JUMP …`.

    Training has every phrase alone, and two phrases of at most `LONGEST_PAIR` steps together; test has two
    phrases of more steps.
    """
    return _joined(random, hard, _scan_phrase, "and", "after")


def drill(random: Random, hard: bool) -> tuple[str, str]:
    """`triple circle north swim once you double rest`: modifiers come first."""
    return _joined(random, hard, _drill_phrase, "then", "once you")


def _joined(random: Random, hard: bool, phrase: Phrase, forward: str, backward: str) -> tuple[str, str]:
    if not hard and random.random() < 0.4:
        source, steps = phrase(random)
        return source, " ".join(steps)
    while True:
        (first, before), (second, after) = phrase(random), phrase(random)
        length = len(before) + len(after)
        if LONGEST_PAIR < length <= LONGEST_TEST if hard else length <= LONGEST_PAIR:
            break
    if random.random() < 0.5:
        return f"{first} {forward} {second}", " ".join(before + after)
    return f"{first} {backward} {second}", " ".join(after + before)


def _scan_phrase(random: Random) -> tuple[str, list[str]]:
    verb, side = random.choice([*VERBS, "turn"]), random.choice(list(TURNS))
    step, turn = [VERBS[verb]] if verb in VERBS else [], [TURNS[side]]
    manner = random.choice(("", side, f"opposite {side}", f"around {side}"))
    if verb == "turn" and not manner:
        manner = side
    if manner.startswith("around"):
        steps = 4 * (turn + step)
    elif manner.startswith("opposite"):
        steps = 2 * turn + step
    else:
        steps = (turn if manner else []) + step
    times = random.choice(list(TIMES))
    return " ".join(f"{verb} {manner} {times}".split()), TIMES[times] * steps


def _drill_phrase(random: Random) -> tuple[str, list[str]]:
    move, side = random.choice(list(MOVES)), random.choice(list(SIDES))
    step, turn = [MOVES[move]], [SIDES[side]]
    manner = random.choice(("", side, f"circle {side}", f"leave {side}"))
    if manner.startswith("circle"):
        steps = 3 * (step + turn)
    elif manner.startswith("leave"):
        steps = [*step, *turn, "TURN"]
    else:
        steps = step + (turn if manner else [])
    times = random.choice(list(MULTIPLES))
    return " ".join(f"{times} {manner} {move}".split()), MULTIPLES[times] * steps
