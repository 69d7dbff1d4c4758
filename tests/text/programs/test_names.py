"""Names of several words without quotes, and that no unit joins their words."""

import pytest

from ftor.text.programs import UnitSettings
from ftor.text.programs.names import constants_named_apart, neighbours_in_sources, words_of_names
from ftor.text.programs.pairs import encode_pairs, learn_programs
from ftor.text.reading import Pair

NAMES = "new york", "new york", "new jersey", "new jersey", "texas", "texas"
PAIRS = [
    *((f"people in {name.title()}", f"answer population stateid {name}") for name in NAMES),
    *(
        (f"the largest state next to {name}", f"answer largest state next_to stateid {name}")
        for name in NAMES
    ),
    *(("states", "answer state all"), ("rivers and states", "answer both state all river all")) * 5,
]


@pytest.fixture
def pairs():
    return [
        Pair(tuple(source.split()), tuple(target.split()), line, None, target)
        for line, (source, target) in enumerate(PAIRS, 1)
    ]


def test_words_that_are_neighbours_in_most_sources_are_found():
    pairs = [("a New York b", "f new york"), ("in new york", "g new york"), ("york new", "f new york")]
    words = [(source.split(), target.split()) for source, target in pairs]
    assert neighbours_in_sources(words) == {("new", "york")}
    assert neighbours_in_sources(words + words[2:]) == set()
    assert neighbours_in_sources(words[:1]) == set()


def test_names_end_in_a_leaf():
    neighbours = {("salt", "lake"), ("lake", "city"), ("largest", "state"), ("left", "right")}
    arities = {"salt": 1, "lake": 1, "city": 0, "largest": 1, "state": 1, "left": 0, "right": 0}
    assert words_of_names(neighbours, arities) == {"salt", "lake", "city"}


@pytest.mark.parametrize("copying", [False, True])
def test_words_of_names_are_units_of_their_own(pairs, copying):
    units = learn_programs("prefix", {"train": pairs}, UnitSettings(count=1), copying).units
    written = [pair.target for pair in encode_pairs(units, pairs)]
    for name in ("new york", "new jersey"):
        assert sum(units[-2:] == tuple(name.split()) for units in written) == 4
    assert any("·" in unit for target in written for unit in target)


def test_tokens_of_names_are_apart(pairs):
    units = learn_programs("tokens", {"train": pairs}, UnitSettings(share=0.5, count=1), False).units
    assert not [name for name in units.units if "new·" in name]


def sold_and_copied(line):
    book = ("Iris", "Nova", "Luna")[line % 3]
    if line % 2 or book == "Iris":
        return f"who copied {book}", f"(copy_of {book})"
    return f"who sold {book}", f"(sold {book})"


COLOURS = [(f"a {colour} block", f"(color {colour})") for colour in ("red", "blue", "green")]
SHAPES = [(f"a {size} block", f"(size {size})") for size in ("big", "small", "tiny")]


@pytest.mark.parametrize(
    ("lines", "apart"),
    [
        pytest.param([sold_and_copied(line) for line in range(24)], True, id="another word names both"),
        pytest.param(COLOURS * 8, False, id="a word of all sentences names no function"),
        pytest.param([*SHAPES, *COLOURS] * 6, False, id="nor does one that stands elsewhere, too"),
    ],
)
def test_constants_with_a_word_of_their_own_are_apart_from_functions_with_another(lines, apart):
    edges = [[tuple(target.strip("()").split())] for _, target in lines]
    found = constants_named_apart([source.split() for source, _ in lines], edges)
    assert bool(found & {"Iris", "red", "big"}) == apart
    pairs = [
        Pair(tuple(source.split()), tuple(target.split()), line, None, target)
        for line, (source, target) in enumerate(lines, 1)
    ]
    units = learn_programs("auto", {"train": pairs}, UnitSettings(), copying=False).units
    assert bool({"copy_of·Iris", "color·red"} & units.units.keys()) != apart
