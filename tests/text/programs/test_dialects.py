"""Arguments with names, and several programs in a line: read, and written back to the letter."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.config import Config
from ftor.grammar import Grammar, GrammarError
from ftor.model.programs import reads_dialects
from ftor.text.programs import Dialect, ProgramError, Programs, UnitSettings, find_notation, learn
from ftor.text.programs.grammars import in_notation, inferred_grammar, over_units
from ftor.text.programs.grammars.targets import read_targets
from ftor.text.programs.lexing import possible_dialects
from ftor.text.programs.pairs import encode_pairs, learn_programs
from ftor.text.reading import Pair

NAMES = st.sampled_from(["f", "g.h", "x_1", "日本", "set-to"])
VALUES = st.sampled_from(["3", "+4", "a==b", "<=", "'New York'", '"it\'s; so"', "''", "[]", "x"])


def calls(values, keys=True):
    def call(head, arguments):
        written = [f"{key}={value}" if key and keys else value for key, value in arguments]
        return f"{head}({', '.join(written)})"

    key = st.sampled_from(["", "city", "max_price", "n.of"])
    trees = st.recursive(
        values, lambda inner: st.builds(call, NAMES, st.lists(st.tuples(key, inner), max_size=3))
    )
    return st.builds(call, NAMES, st.lists(st.tuples(key, trees), max_size=3))


def comes_back(texts):
    programs = Programs.learn(texts, settings=UnitSettings(count=2))
    again = Programs.from_dict(programs.to_dict())
    return [again.decode(programs.encode(text)) for text in texts] == texts


@given(st.lists(calls(VALUES), min_size=1, max_size=4))
def test_calls_with_keys_come_back(texts):
    assert comes_back(texts)


@given(
    st.lists(st.lists(calls(VALUES), min_size=1, max_size=3), min_size=1, max_size=4),
    st.sampled_from(["; ", ";", " ; ", ", ", ",", " "]),
    st.booleans(),
)
def test_several_calls_in_a_line_come_back(lines, between, ends):
    ends = ends and ";" in between
    texts = [between.join(line) + between.rstrip() * ends for line in lines]
    assert comes_back(texts)


@given(
    st.lists(st.lists(st.sampled_from(["(f a)", "(g (f b) ())", "(h)"]), min_size=1), min_size=1, max_size=4),
    st.sampled_from([" ", "", "; "]),
)
def test_several_s_expressions_in_a_line_come_back(lines, between):
    assert comes_back([between.join(line) for line in lines])


def test_units_have_keys_and_the_statements_of_a_line():
    targets = ["send(cello, bus='main out'); mute(viola)", "mute(viola)", "send(viola, bus=delay)"]
    programs = Programs.learn(targets, settings=UnitSettings(share=2, child_share=2))
    assert programs.notation.dialect == Dialect(keys=True, between=";")
    assert [programs.encode(target) for target in targets[:2]] == [
        ["sequence(", "send", "cello", "bus=", "'", "main", "out", ")", "mute", "viola", ")"],
        ["sequence(", "mute", "viola", ")"],
    ]
    assert (
        programs.decode(["sequence(", *["mute", "cello"] * 3, ")"]) == "mute(cello); mute(cello); mute(cello)"
    )


def test_one_program_in_each_line_is_no_sequence():
    notation, _ = find_notation(["f(a)", "f(b, g(c))"])
    assert notation.dialect == Dialect()


@pytest.mark.parametrize(
    "targets",
    [
        ["he said (yes) and left", "she stayed"],
        ["a dog (brown), a cat", "a cat"],
        ["up (left) 3 ; down"],
        ["f(a); g(b", "f(a)"],
        ["f(a); ; g(b)", "f(a)"],
        ["f(a); g(b);", "f(a)"],
        ["; f(a)"],
        ["(1+2)*(3+4)", "(1+2)"],
        ["sin(x)*cos(y)", "f(a)(b)"],
        ["f(a), g(b)", "f(c)", "none"],
    ],
)
def test_sentences_and_broken_lines_are_no_programs(targets):
    assert find_notation(targets)[0] is None


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        (["f(a); g(b)", "f(a)", "f(a); g(b"], "line 3: '(' is not closed"),
        (["f(a); g(b)", "f(a) g(b)"], "line 2: no ',' before 'g'"),
        (["f(a); g(b)", "f(a);"], "line 2: ';' stands at the end"),
        (["f(a); g(b)", "f(a);g(b)"], "line 2: no space between ';' and a word, but one space in line 1"),
    ],
)
def test_the_line_that_is_no_program_is_named(targets, reason):
    with pytest.raises(ProgramError, match=re.escape(reason)):
        learn("calls", targets)


@pytest.mark.parametrize("text", ["f(x=)", "f(x=y=2)", "f(x=, 2)", "f(x="])
def test_a_key_needs_a_value(text):
    with pytest.raises(ProgramError, match="no value after 'x='"):
        learn("calls", ["f(x=1)"]).read(text)


def test_what_is_no_key_is_an_atom():
    programs = Programs.learn(["f(x=)", "f(y=, a)"])
    assert programs.notation.dialect == Dialect()
    assert programs.encode("f(x=)") == ["f/1", "x="]


def test_new_neighbours_have_the_space_of_others():
    programs = Programs.learn(
        ["book(x, y); go(a)", "book(city=x)"], settings=UnitSettings(share=2, child_share=2)
    )
    units = ["sequence(", "book/2", "x", "city=", "y", "book/1", "city=", "x", ")"]
    assert programs.decode(units) == "book(x, city=y); book(city=x)"


def test_looking_for_keys_takes_no_longer_in_long_words():
    assert possible_dialects("calls", ["x" * 200_000]) == possible_dialects("calls", ["x"])


def test_one_key_without_a_value_is_an_error():
    """Without keys, `city='New` would be a word, and no name could be copied."""
    with pytest.raises(ProgramError, match="line 3: no value after 'city='"):
        learn("calls", ["f(city='New York')"] * 2 + ["f(city=)"] + ["f(city=Rome, n=2)"] * 7)


def test_names_may_be_shorter_than_those_of_training():
    targets = [f"f(city='{name} York')" for name in ("New", "Old", "Big")] * 10
    programs = Programs.learn(targets)
    grammar = Grammar.parse(inferred_grammar(encode_pairs(programs, pairs_of(targets)), programs))
    assert grammar.accepts(programs.encode("f(city='York')"))
    assert not grammar.accepts(programs.encode("f(city='')"))


def test_deep_and_long_lines():
    deep = f"{'f(' * 10_000}a{')' * 10_000}; g(b)"
    long = "; ".join(["f(x=a)"] * 10_000)
    for text in (deep, long):
        notation = learn("calls", [text])
        assert notation.write(notation.read(text)) == text


def pairs_of(targets):
    return [
        Pair(("x",), tuple(target.split()), line, target_text=target) for line, target in enumerate(targets)
    ]


STATEMENTS = {
    ";": ["f(a, n=1); g(b, c)", "g(b, a)", "f(b, n=2); f(a, n=1); g(a, b)", "g([f(a, n=1), f(b, n=2)], b)"],
    ",": ["f(a), g(b, c)", "g(b, a)", "f(b), f(a), g(a, b)"],
    "": ["(f a) (g b c)", "(g b a)", "(f b) (f a) (g a b)"],
}


@pytest.mark.parametrize("between", STATEMENTS)
@pytest.mark.parametrize("original", [False, True])
def test_inferred_grammars_have_longer_lines_than_training(between, original):
    targets = STATEMENTS[between] * 2
    pairs = pairs_of(targets)
    programs = Programs.learn(targets)
    assert programs.notation.dialect.between == between
    longer = (f"{between} " if between else " ").join(STATEMENTS[between])
    units = encode_pairs(programs, pairs)
    grammar = Grammar.parse(inferred_grammar(units, programs, original=original))
    if not original:
        assert grammar.accepts(programs.encode(longer))
        grammar = in_notation(grammar, programs)
    read = read_targets(grammar, pairs_of([longer, *targets]))
    assert not read.rejected
    wrong = {";": "f(a, n=1), g(b, a)", ",": "f(a); g(b, a)", "": "(f a (g b a))"}[between]
    assert read_targets(grammar, pairs_of([wrong])).rejected


def test_a_grammar_over_the_notation_of_several_programs_is_refused():
    programs = Programs.learn(STATEMENTS[";"])
    with pytest.raises(GrammarError, match="several programs in a line"):
        over_units(Grammar.parse("S -> 'f' '(' 'a' ')' ';' 'f' '(' 'a' ')'"), programs)


def test_a_grammar_over_the_notation_knows_names_of_arguments(tmp_path):
    targets = ["f(a, n=1)", "f(b, n=2)", "g(f(a, n=1), b)", "f(b, n=1)", "g(f(b, n=2), a)"] * 3
    programs = Programs.learn(targets)
    units = encode_pairs(programs, pairs_of(targets))
    grammar = inferred_grammar(units, programs, original=True)
    compiled = over_units(Grammar.parse(grammar), programs)
    assert all(compiled.accepts(pair.target) for pair in units)
    (tmp_path / "own.cfg").write_text(grammar)
    assert reads_dialects(Config.load("programs", [f"decoding.grammar={tmp_path / 'own.cfg'}"]))
    (tmp_path / "own.cfg").write_text("S -> 'f' '(' 'n=1' ')'")
    assert not reads_dialects(Config.load("programs", [f"decoding.grammar={tmp_path / 'own.cfg'}"]))


def test_a_grammar_of_the_user_knows_no_dialect():
    pairs = pairs_of(STATEMENTS[";"])
    assert learn_programs("auto", {"train": pairs}, UnitSettings(), False).units is not None
    assert learn_programs("auto", {"train": pairs}, UnitSettings(), False, dialects=False).units is None
