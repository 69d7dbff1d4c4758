"""Programs are read and come back to the letter, or the line that does not is named."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.text.programs import (
    NOTATIONS,
    Notation,
    ProgramError,
    Programs,
    UnitSettings,
    find_notation,
    learn,
    solve_arities,
)

ATOMS = st.text(st.characters(exclude_characters="()[]{},:\"'\\", exclude_categories=("Z", "C")), min_size=1)
WORDS = st.lists(ATOMS, min_size=1, max_size=3).map(" ".join)
NAMES = st.sampled_from(["f", "g.h", "en.block", "<=", "é", "日本", "x_1", "'tis"])


MARKED = ['""', '"it\'s"', "'a)b'", "'a(b, c]'", "[]"]


@st.composite
def _written(draw, layout, marked=()):
    """A random tree as `layout` writes it; layout turns a head and written children into text."""
    leaf = st.one_of(
        NAMES.filter(lambda name: name[0] != "'"),
        WORDS.map(lambda words: f"'{words}'"),
        st.sampled_from([*MARKED, *marked]),
    )
    return draw(
        st.recursive(
            leaf, lambda inner: st.builds(layout, NAMES.filter(str.isidentifier), st.lists(inner, max_size=4))
        )
    )


def compact_s_expression(head, children):
    return f"({' '.join([head, *children])})"


def spaced_s_expression(head, children):
    return " ".join(["(", head, *children, ")"])


def call(head, children):
    return f"{head}({', '.join(children)})"


@given(st.lists(_written(compact_s_expression, ["()"]), min_size=1, max_size=4))
def test_s_expressions_come_back(texts):
    notation = learn("s-expression", texts)
    assert [notation.write(notation.read(text)) for text in texts] == texts


@given(st.lists(_written(spaced_s_expression, ["()"]), min_size=1, max_size=4))
def test_spaced_s_expressions_come_back(texts):
    notation = learn("s-expression", texts)
    assert [notation.write(notation.read(text)) for text in texts] == texts


@given(st.lists(_written(call), min_size=1, max_size=4))
def test_calls_come_back(texts):
    notation = learn("calls", texts)
    assert [notation.write(notation.read(text)) for text in texts] == texts


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
)


@given(st.lists(JSON, min_size=1), st.booleans(), st.sampled_from([(", ", ": "), (",", ":")]))
def test_json_comes_back(values, ascii_only, separators):
    texts = [json.dumps(value, ensure_ascii=ascii_only, separators=separators) for value in values]
    notation = learn("json", texts)
    assert [notation.write(notation.read(text)) for text in texts] == texts


@st.composite
def _in_prefix_order(draw):
    """The number of arguments of each symbol, and random programs."""
    arities = draw(st.dictionaries(st.sampled_from(["f", "g·h", "<=", "(", "'a", "b'"]), st.integers(0, 3)))
    arities["x"] = 0
    heads = st.sampled_from(sorted(symbol for symbol, arity in arities.items() if arity) or ["x"])
    leaves = st.sampled_from(sorted(symbol for symbol, arity in arities.items() if not arity))

    def with_arguments(inner):
        return heads.flatmap(lambda head: st.tuples(st.just(head), *[inner] * arities[head]).map(" ".join))

    return arities, draw(st.lists(st.recursive(leaves, with_arguments), min_size=1, max_size=5))


@given(_in_prefix_order(), st.booleans())
def test_prefix_order_comes_back(drawn, given_arities):
    arities, texts = drawn
    notation = learn("prefix", texts, arities if given_arities else None)
    assert [notation.write(notation.read(text)) for text in texts] == texts
    programs = Programs.learn(texts, "prefix", UnitSettings(count=1), arities=notation.arities)
    again = Programs.from_dict(json.loads(json.dumps(programs.to_dict())))
    assert [programs.decode(programs.encode(text)) for text in texts] == texts
    assert [again.encode(text) for text in texts] == [programs.encode(text) for text in texts]


@given(st.text(alphabet="()[]{},:'\"\\ ab1\n\t", max_size=20))
def test_readers_refuse_or_return(text):
    for name in ("s-expression", "calls", "json", "prefix"):
        try:
            notation = learn(name, [text])
        except ProgramError:
            continue
        assert notation.write(notation.read(text)) == text


@given(st.lists(st.text(alphabet="()[]{},:'\"\\ ab1\n\t\xa0", max_size=12), max_size=5))
def test_the_finder_refuses_or_returns(texts):
    for notation in (None, *NOTATIONS):
        try:
            programs = Programs.learn(texts, notation)
        except ProgramError:
            continue
        assert [programs.decode(programs.encode(text)) for text in texts] == texts


@pytest.mark.parametrize("text", ["", "  ", "\xa0"])
def test_an_empty_target_is_named(text):
    notation, reasons = find_notation(["(f a)", text])
    assert notation is None
    assert reasons["prefix"] == reasons["s-expression"] == "line 2: the program is empty"
    with pytest.raises(ProgramError, match="line 2: the program is empty"):
        Programs.learn(["(f a)", text])
    with pytest.raises(ProgramError, match="line 2: the program is empty"):
        solve_arities([["f", "a"], text.split()])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s-expression", "(f " * 10_000 + "a" + ")" * 10_000),
        ("calls", "f(" * 10_000 + "a" + ")" * 10_000),
        ("json", "[" * 10_000 + "1" + "]" * 10_000),
        ("prefix", "f " * 10_000 + "a"),
    ],
)
def test_deep_nesting(name, text):
    notation = learn(name, [text])
    assert notation.write(notation.read(text)) == text


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("s-expression", "(f a", "'(' is not closed"),
        ("s-expression", "(f a))", "')' closes no bracket"),
        ("s-expression", "(f) g", "2 programs"),
        ("s-expression", "(f  a)", "'  ' between"),
        ("calls", "f(a b, c)", None),
        ("calls", "f(a,, c)", "no argument after ','"),
        ("calls", "f(a]", "']' closes no bracket"),
        ("calls", "f(g(a) b)", "no ',' before 'b'"),
        ("json", '{"a": }', "no value before '}'"),
        ("json", '{"a" 1}', "no ','|no value|is no"),
        ("json", "[1, 2", "'[' is not closed"),
        ("json", "[01]", "no JSON value"),
        ("json", "[1,]", "no value after ','"),
        ("s-expression", "", "empty"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(name, text, reason):
    good = {"s-expression": "(f a)", "calls": "f(a, b)", "json": '{"a": 1}'}[name]
    if reason is None:
        assert learn(name, [good, text])
        return
    with pytest.raises(ProgramError) as raised:
        learn(name, [good, text])
    assert str(raised.value).startswith("line 2: ")
    assert re.search(reason if "|" in reason else re.escape(reason), str(raised.value)), raised.value


def test_the_notation_is_found():
    assert find_notation(["( f ( g a ) )", "( f b )"])[0].name == "s-expression"
    assert find_notation(["f(g(a), 'c d')", "f(b, c)"])[0].name == "calls"
    assert find_notation(['{"a": [1, 2]}', '{"b": {}}'])[0].name == "json"
    programs = ["answer state all", "answer capital loc_2 state all", "answer state id utah"]
    programs += ["answer id utah", "answer and state all id utah", "answer id texas"]
    programs += ["answer and id utah and state all id texas"]
    assert find_notation(programs)[0].name == "prefix"


@pytest.mark.parametrize(
    "targets", [["un chat noir", "le chat dort bien", "un chien"], ["f(a", "f(b)"], ["a", "b"]]
)
def test_other_targets_are_no_programs(targets):
    notation, reasons = find_notation(targets)
    assert notation is None
    assert set(reasons) == {"json", "s-expression", "calls", "prefix"}


def test_arities_are_solved():
    programs = [
        "answer and river all state id texas",
        "answer river all",
        "answer id texas",
        "answer state id utah",
    ]
    arities = solve_arities([program.split() for program in programs])
    assert arities == {
        "answer": 1,
        "and": 2,
        "river": 1,
        "all": 0,
        "state": 1,
        "id": 1,
        "texas": 0,
        "utah": 0,
    }


def test_arities_that_do_not_exist():
    with pytest.raises(ProgramError):
        solve_arities([["f", "a"], ["a", "f"], ["a", "a"]])


FUNCTIONS = {"and": 2, "river": 1, "state": 1, "most": 2, "size": 1}


def prefix_programs(count, seed=0):
    draw = random.Random(seed)

    def tree(depth):
        head = draw.choice(["all", "texas", "utah", *FUNCTIONS] if depth else ["all", "texas", "utah"])
        return [head, *(token for _ in range(FUNCTIONS.get(head, 0)) for token in tree(depth - 1))]

    return [" ".join(["answer", *tree(draw.randint(1, 4))]) for _ in range(count)]


def test_the_line_without_arities_is_named():
    programs = prefix_programs(300)
    assert learn("prefix", programs)
    programs[199] += " texas utah"
    with pytest.raises(ProgramError, match=r"^line 200: no number of arguments"):
        learn("prefix", programs)
    with pytest.raises(ProgramError, match=r"\nprefix: line 200: no number of arguments"):
        Programs.learn(programs)


def test_arities_may_be_given():
    notation = learn("prefix", ["f a b", "g a"], {"f": 2, "g": 1})
    assert [node.children for node in notation.read("f g a b")] == [2, 1, 0, 0]


def test_unknown_notation():
    with pytest.raises(ProgramError, match="lisp"):
        learn("lisp", ["(a)"])


def test_names_of_several_words_are_read_word_by_word():
    (_, name, *words) = Notation("calls").read("stateid('new york')")
    assert (name.kind, name.text, [word.text for word in words]) == ("quoted", "'", ["new", "york"])
    (_, name, *words) = Notation("calls").read("stateid(new york)")
    assert (name.kind, [word.text for word in words]) == ("words", ["new", "york"])
