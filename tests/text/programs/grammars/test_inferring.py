"""Grammars that are inferred from programs: the keys of objects, and the names of rules."""

from itertools import product

import pytest

from ftor.config import Config
from ftor.grammar import Grammar
from ftor.model.programs import training_grammar
from ftor.text.copying import Copying
from ftor.text.programs import Programs
from ftor.text.programs.grammars import grammar_of, inferred_grammar
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair

CALLS = [
    f'{{"action": "call", "person": {{"name": "{name}", "at": "{at}"}}{when}}}'
    for name in ("tina", "bob", "ann lee")
    for at in ("work", "home", "sea")
    for when in ("", ', "when": "now"', ', "when": "later"')
]
PLAYS = [f'{{"action": "play", "song": "{song}"}}' for song in ("yesterday", "help", "blue moon")]


def inferred(targets, **options):
    programs = Programs.learn(targets)
    pairs = [Pair(("x",), (), line, target_text=text) for line, text in enumerate(targets, 1)]
    return programs, inferred_grammar(encode_pairs(programs, pairs), programs, **options)


@pytest.mark.parametrize("original", [False, True])
def test_keys_belong_to_their_objects(original):
    programs, text = inferred(CALLS + PLAYS, original=original)
    grammar = Grammar.parse(text)

    def accepts(target):
        return grammar.accepts(programs.notation.split(target) if original else programs.encode(target))

    assert all(map(accepts, CALLS + PLAYS))
    assert accepts('{"action": "play", "song": "help", "when": "now"}')
    assert not accepts('{"action": "play", "action": "play"}')
    assert not accepts('{"song": "help", "action": "play"}')
    assert not accepts('{"song": "help"}')
    assert not accepts('{"action": "call", "person": {"name": "tina", "song": "help"}}')
    assert not accepts('{"action": "call", "person": {}}')


@pytest.mark.parametrize("original", [False, True])
def test_keys_whose_order_is_not_shown_come_in_any_order(original):
    ends = [f'"{key}": {n}{end}}}' for n in range(10) for key in "bc" for end in ("", ', "z": 1')]
    targets = [f'{{"x": 1, {end}' for end in ends]
    programs, text = inferred(targets, original=original)
    grammar = Grammar.parse(text)

    def accepts(keys):
        target = "{" + ", ".join(f'"{key}": 1' for key in keys) + "}"
        return grammar.accepts(programs.notation.split(target) if original else programs.encode(target))

    every = [keys for size in range(1, 5) for keys in product("xbcz", repeat=size)]
    wanted = ["x", "xb", "xc", "xbc", "xcb"]
    assert sorted(map("".join, filter(accepts, every))) == sorted([*wanted, *(f"{keys}z" for keys in wanted)])


def test_keys_in_any_order_stay_in_their_objects():
    other = [
        text.replace('{"action": "play", "song"', '{"song"')[:-1] + ', "action": "play"}' for text in PLAYS
    ]
    programs, text = inferred((PLAYS + other + CALLS) * 2)
    grammar = Grammar.parse(text)
    assert all(grammar.accepts(programs.encode(target)) for target in PLAYS + other + CALLS)
    assert not grammar.accepts(programs.encode('{"action": "play", "name": "tina"}'))


def test_empty_objects_are_accepted_where_training_has_them():
    targets = ['{"a": {}}', '{"a": {"b": 1, "c": 2}}', '{"a": {"b": 2, "c": 2}}'] * 10
    programs, text = inferred(targets)
    grammar = Grammar.parse(text)
    assert all(grammar.accepts(programs.encode(target)) for target in targets)
    assert not grammar.accepts(programs.encode("{}"))


def test_rules_have_the_names_of_heads_and_keys():
    _, text = inferred(CALLS + PLAYS)
    names = {line.split(" ->")[0] for line in text.splitlines() if " -> " in line}
    assert {"Action", "Person", "Name", "ActionObject", "NameObject"} <= names
    assert not {name for name in names if name.startswith(("Tina", "Bob", "Call", "Play", "Help"))}


def test_types_of_constants_have_the_name_of_what_takes_them():
    targets = [f"(fly (to {city}) {person})" for city in ("rome", "oslo") for person in ("ann", "bob")] * 2
    _, text = inferred(targets)
    names = {line.split(" ->")[0] for line in text.splitlines() if " -> " in line}
    assert not names & {"Rome", "Oslo", "Ann", "Bob"}
    assert "To" in names


def test_namespaces_name_constants():
    targets = [f"(call (visit) {who} (at {who}))" for who in ("en.person.tina", "en.person.bob")] * 3
    assert "Person -> " in inferred(targets)[1]


@pytest.mark.parametrize("any_case", [False, True])
def test_names_that_differ_in_case_are_copied_by_the_copy_rules(any_case):
    names = ["Ann", "Bob", "Cy"]
    targets = [f"(call {name} now)" for name in names]
    programs = Programs.learn(targets, copied=names)
    pairs = [
        Pair((name.lower(),), (), 1, target_text=text) for name, text in zip(names, targets, strict=True)
    ]
    grammar = grammar_of(encode_pairs(programs, pairs), programs, Copying(any_case=any_case))
    assert grammar.accepts(programs.encode("(call dan now)"), ["dan"]) == any_case


WORDS = ["one", "two", "three", "four", "five", "six"]


@pytest.mark.parametrize(
    ("targets", "new", "takes"),
    [
        ([f"(f {n})" for n in range(1, 7)], "(f 7)", True),
        ([f"(f {n})" for n in range(1, 7)], "(g 7)", False),
        ([f"(f {n})" for n in (1, 2, "all")], "(f 7)", False),
        ([f'{{"n": {n}, "on": true}}' for n in (1, -2, 3.5)], '{"n": 7, "on": true}', True),
        ([f'{{"n": {n}, "on": true}}' for n in (1, -2, 3.5)], '{"n": 1, "on": 7}', False),
        ([f"(f '{word} x' on)" for word in WORDS], "(f '7 x' on)", True),
        ([f"(f '{word} x' on)" for word in WORDS], "(f 'two x' 7)", False),
        ([f"f(a {word}, on)" for word in WORDS], "f(a 7, on)", True),
        ([f'{{"do": "{word}"}}' for word in WORDS], '{"do": "7"}', False),
    ],
)
def test_new_numbers_and_names_may_be_copied_though_training_copies_none(targets, new, takes):
    programs = Programs.learn(targets)
    pairs = [Pair(("x",), (), line, target_text=text) for line, text in enumerate(targets, 1)]
    encoded = encode_pairs(programs, pairs)
    grammar = grammar_of(encoded, programs, Copying())
    assert all(grammar.accepts(pair.target, pair.source) for pair in encoded)
    assert grammar.accepts(programs.encode(new), ["7"]) == takes
    assert not grammar.accepts(programs.encode(new), ["x"])
    assert "@copy" not in grammar_of(encoded, programs, None).text


def test_the_configuration_says_how_general_the_grammar_is():
    targets = ["(f (g a))", "(f (h b))", "(h (f c))"]
    programs = Programs.learn(targets)
    pairs = [Pair(("x",), (), line, target_text=text) for line, text in enumerate(targets, 1)]
    encoded = encode_pairs(programs, pairs)
    texts = [inferred_grammar(encoded, programs, generality=one) for one in ("typed", "union", "arity")]
    configs = [Config.load("programs")]
    configs += [Config.load("programs", [f"decoding.generality={one}"]) for one in ("union", "arity")]
    assert [training_grammar(config, encoded, programs).text for config in configs] == texts
    assert len(set(texts)) > 1
    assert Config.load("programs", ["decoding.generality=typed"]).hash == configs[0].hash
