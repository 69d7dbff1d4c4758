"""Programs in prefix order with a few exceptions."""

import random

from ftor.tuning.look.almost_prefix import almost_prefix

FUNCTIONS = {f"f{number}": 1 + number % 3 for number in range(20)}
LEAVES = [f"a{number}" for number in range(15)]


def tree(draw, depth=3):
    if not depth or draw.random() < 0.3:
        return [draw.choice(LEAVES)]
    function = draw.choice(list(FUNCTIONS))
    return [function, *(token for _ in range(FUNCTIONS[function]) for token in tree(draw, depth - 1))]


def test_early_exceptions_among_programs_of_many_functions_are_found():
    draw = random.Random(0)
    targets = [["answer", *tree(draw)] for _ in range(300)]
    places = [1, 4, 90, 200]
    for place in places:
        targets[place].append(draw.choice(LEAVES))
    found = almost_prefix(targets)
    assert found is not None
    assert found.exceptions == places
    assert found.arities.items() >= FUNCTIONS.items()
