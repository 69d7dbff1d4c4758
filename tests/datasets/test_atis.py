"""ATIS: trees from tokens and back, and equality up to the order of conjuncts."""

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftor.datasets import groupings, judges
from ftor.datasets.atis import ARITIES, CONJUNCTIONS, read, same_tree, write
from ftor.datasets.terms import QueryError, Term
from ftor.text.reading import read_pairs

FLIGHTS = (
    "answer _flight ( intersection _from_2 city_name boston _to_2 city_name denver _nonstop _flight all )"
)


def shuffled(term, random):
    arguments = [shuffled(argument, random) for argument in term.arguments]
    if term.head in CONJUNCTIONS:
        random.shuffle(arguments)
    return Term(term.head, tuple(arguments))


def test_a_tree():
    conjuncts = (
        Term("_from_2", (Term("city_name", (Term("boston"),)),)),
        Term("_to_2", (Term("city_name", (Term("denver"),)),)),
        Term("_nonstop", (Term("_flight", (Term("all"),)),)),
    )
    assert read(FLIGHTS.split()) == Term("answer", (Term("_flight", (Term("intersection", conjuncts),)),))
    assert write(read(FLIGHTS.split())) == FLIGHTS.split()


@pytest.mark.parametrize(
    ("gold", "predicted", "same"),
    [
        ("( or a b )", "( or b a )", True),
        ("( intersection a ( or b c ) )", "( intersection ( or c b ) a )", True),
        ("( or a b )", "( intersection a b )", False),
        ("( or a a b )", "( or a b )", False),
        ("( or a a b )", "( or a b b )", False),
        ("( or a ( or b c ) )", "( or a b c )", False),
        ("_equals a b", "_equals b a", False),
        ("_equals ( or a b ) c", "_equals ( or b a ) c", True),
        ("( or _day_2 a b )", "( or b _day_2 a )", True),
        ("( or a b )", "( or a b", False),
        ("( or a b )", "( or a b ) )", False),
        ("( or a )", "a", False),
        # an unreadable one is only like itself
        (")", ")", True),
        (")", "(", False),
    ],
)
def test_equality(gold, predicted, same):
    assert same_tree(gold.split(), predicted.split()) == same
    assert same_tree(predicted.split(), gold.split()) == same


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("", "found the end of the query"),
        ("answer", "found the end of the query"),
        ("( or a", "found the end of the query"),
        ("( a b )", r"token 2: expected intersection or or after '\(', found 'a'"),
        ("( or )", r"token 3: expected an argument, found '\)'"),
        ("( or _flight )", r"token 4: expected an argument, found '\)'"),
        ("a b", "token 2: expected the end of the query, found 'b'"),
        ("_flight " * 1000, " levels"),
    ],
)
def test_errors_say_where(tokens, message):
    with pytest.raises(QueryError, match=message):
        read(tokens.split())


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(["(", ")", "or", "intersection", "a", *list(ARITIES)[:5], "_equals"]), max_size=15
    )
)
def test_any_tokens_are_a_tree_or_a_documented_error(tokens):
    try:
        tree = read(tokens)
    except QueryError:
        return
    assert write(tree) == tokens
    assert same_tree(tokens, write(shuffled(tree, Random(0))))


def test_the_judge():
    (judge,) = judges("atis", None)
    assert judge.name == "tree_accuracy"
    assert judge.same(["(", "or", "a", "b", ")"], ["(", "or", "b", "a", ")"])
    assert groupings("atis") == ()


@pytest.mark.skipif(not os.environ.get("FTOR_DATA"), reason="FTOR_DATA does not say where the real data is")
def test_published_programs():
    random, count, moved = Random(0), 0, 0
    for path in (Path(os.environ["FTOR_DATA"]) / "atis").glob("*.tsv"):
        for pair in read_pairs(path):
            tree = read(pair.target)
            assert write(tree) == list(pair.target)
            other = write(shuffled(tree, random))
            assert same_tree(pair.target, other)
            count += 1
            moved += other != list(pair.target)
    assert count == 10700
    assert moved > 6000
