"""Kinds of subtrees, and the seams of sentences."""

import tracemalloc

import pytest

from ftor.text.programs import ProgramError, Programs, UnitSettings
from ftor.text.recombining.fluency import NGrams
from ftor.text.recombining.kinds import Kinds, read_nodes

TEXTS = [
    *(f"( list ( where {things} {how} ) )" for how in ("red", "big") for things in ("cups", "pots")),
    *(f"( list ( where ( where {things} red ) big ) )" for things in ("cups", "pots")),
    *(f"( list ( near {things} ( size {number} ) ) )" for things in ("cups", "pots") for number in "12"),
    *("( list cups )", "( list 1 )"),  # one shared context does not make one kind
]


@pytest.fixture
def programs():
    return Programs.learn(TEXTS, settings=UnitSettings(count=100))


@pytest.fixture
def trees(programs):
    return {tuple(programs.encode(text)): read_nodes(programs.encode(text), programs) for text in TEXTS}


def test_nodes_are_spans_of_units(programs):
    nodes = read_nodes(programs.encode(TEXTS[4]), programs)
    spans = [(node.unit, node.start, node.end) for node in nodes]
    assert spans == [
        *[("list", 0, 6), ("where", 1, 6), ("where", 2, 5)],
        *[("cups", 3, 4), ("red", 4, 5), ("big", 5, 6)],
    ]


@pytest.mark.parametrize(
    "text", ["(f " * 10_000 + "a" + ")" * 10_000, "[" * 10_000 + "]" * 10_000], ids=["heads", "lists"]
)
def test_deep_programs_have_nodes(text):
    programs = Programs.learn([text])
    units = programs.encode(text)
    nodes = read_nodes(units, programs)
    assert len(nodes) == len(units) - units.count(")")
    assert (nodes[0].start, nodes[0].end) == (0, len(units))


@pytest.mark.parametrize("units", [["list"], ["cups", "pots"], []])
def test_units_that_are_not_one_tree_are_refused(programs, units):
    with pytest.raises(ProgramError, match="not one tree"):
        read_nodes(units, programs)


def test_things_numbers_and_properties_are_kinds_and_filters_are_of_the_kind_of_what_they_filter(
    programs, trees
):
    kinds = Kinds(list(trees), list(trees.values()), programs)
    found = {node.unit: kinds.of(units, node) for units, nodes in trees.items() for node in nodes}
    assert found["cups"] == found["pots"] == found["where"]
    assert found["1"] == found["2"] != found["cups"]
    assert found["red"] != found["cups"]
    units, nodes = next((units, nodes) for units, nodes in trees.items() if units.count("where") == 2)
    assert [node.unit for node in kinds.modified(units, nodes[1])] == ["where"]
    assert [node.unit for node in kinds.modified(units, nodes[2])] == [units[3]]


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("( list ( where ( where ( where cups big ) red ) big ) )", True),
        ("( list ( where cups ( size 1 ) ) )", False),
        ("( list ( size 1 ) )", False),
    ],
)
def test_new_programs_have_each_unit_where_training_has_it(programs, trees, text, fits):
    kinds = Kinds(list(trees), list(trees.values()), programs)
    assert kinds.fit(read_nodes(programs.encode(text), programs)) == fits


@pytest.mark.parametrize(
    ("sentence", "seam", "fluent"),
    [
        ("show big red cups", 2, True),
        ("show red big cups", 2, False),
        ("show red red cups", 2, False),
        ("show big red cups", 4, True),
        ("big red cups", 0, False),
    ],
)
def test_words_at_a_seam_are_together_in_training(sentence, seam, fluent):
    ngrams = NGrams([text.split() for text in ("show big red pots", "all the big red cups")])
    assert ngrams.are_fluent(sentence.split(), [seam]) == fluent


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("( list ( or ( where pots red ) ( near cups pots ) ) )", True),
        ("( list ( or cups ( or pots ( where cups red ) ) ) )", True),
        ("( list ( near ( or cups pots ) cups ) )", False),  # `cups or pots near cups` would be this program
        ("( list ( or ( or cups pots ) cups ) )", False),
    ],
)
def test_modifiers_stand_only_where_training_would_have_them(text, fits):
    things = ["cups", "pots", "( where cups red )", "( where pots red )"]
    near = [f"( near {one} {other} )" for one in things for other in things]
    either = [f"( or {one} {other} )" for one in (*things, *near) for other in (*things, *near)]
    either += [f"( or {one} {other} )" for one in things for other in either[:20]]
    texts = [f"( list {one} )" for one in (*things, *near, *either)]
    programs = Programs.learn(texts, settings=UnitSettings(count=1000))
    trees = {tuple(programs.encode(text)): read_nodes(programs.encode(text), programs) for text in texts}
    kinds = Kinds(list(trees), list(trees.values()), programs)
    assert kinds.fit(read_nodes(programs.encode(text), programs)) == fits


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("( list ( or cups ( or pots ( or cups pots ) ) ) )", True),
        ("( list ( or ( or cups pots ) cups ) )", False),
        ("( list ( or ( where cups red ) ( or pots cups ) ) )", True),
    ],
)
def test_chains_of_one_function_grow_in_one_argument_only_even_if_there_are_few(text, fits):
    things = ["cups", "pots", "( where cups red )", "( where pots red )"]
    either = [f"( or {one} {other} )" for one in things for other in things[:2]]
    texts = [f"( list {one} )" for one in (*things, *either, *(f"( or cups {one} )" for one in either[:2]))]
    programs = Programs.learn(texts, settings=UnitSettings(count=1000))
    trees = {tuple(programs.encode(text)): read_nodes(programs.encode(text), programs) for text in texts}
    kinds = Kinds(list(trees), list(trees.values()), programs)
    assert kinds.fit(read_nodes(programs.encode(text), programs)) == fits


@pytest.mark.parametrize(("times", "fits"), [(2, True), (3, False)])
def test_three_that_chance_would_have_put_there_are_enough(times, fits):
    things = ["cups", "pots", "mugs", "jars"]
    either = [f"( or {one} {other} )" for one in things for other in things if one != other]
    adjectives = [f"( old ( red {thing} ) )" for thing in things] * times
    plain = [f"( {how} {thing} )" for how in ("old", "red") for thing in things]
    texts = [f"( list {one} )" for one in (*things, *either, *adjectives, *plain)]
    programs = Programs.learn(texts, settings=UnitSettings(count=1000))
    targets = [tuple(programs.encode(text)) for text in texts]
    kinds = Kinds(targets, [read_nodes(target, programs) for target in targets], programs)
    new = programs.encode("( list ( old ( or cups pots ) ) )")  # by chance 2.7 or 3.3 times
    assert kinds.fit(read_nodes(new, programs)) == fits


def test_memory_does_not_grow_with_the_square_of_the_programs():
    texts = [f"( list ( where t{number} {how} ) )" for number in range(500) for how in ("red", "big")]
    programs = Programs.learn(texts, settings=UnitSettings(count=10000))
    targets = [tuple(programs.encode(text)) for text in texts]
    trees = [read_nodes(target, programs) for target in targets]
    tracemalloc.start()
    try:
        Kinds(targets, trees, programs)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 60e6
