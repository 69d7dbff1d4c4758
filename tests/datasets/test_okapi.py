"""Okapi: queries as sets of clauses."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.datasets import groupings, judges
from ftor.datasets.okapi import KEYWORDS, clauses, parameters, same_clauses
from ftor.text.reading import read_pairs

QUERY = "GET event COUNT FILTER event.calendar eq Work TOP 1"


def test_clauses():
    expected = {("get", "event"), ("count", ""), ("filter", "event.calendar eq work"), ("top", "1")}
    assert clauses(QUERY.split()) == expected


@pytest.mark.parametrize(
    ("predicted", "same"),
    [
        ("TOP 1 GET event FILTER event.calendar eq work COUNT", True),
        (QUERY + " COUNT", True),
        (QUERY.removesuffix(" TOP 1"), False),
        (QUERY + " SEARCH x", False),
        ("please " + QUERY, False),
        (QUERY.lower(), False),
        ("", False),
        # a keyword counts inside a word as well
        ("GET event COUNTFILTER event.calendar eq Work TOP1", True),
    ],
)
def test_equality(predicted, same):
    assert same_clauses(QUERY.split(), predicted.split()) == same


def test_what_is_no_query_is_only_like_itself():
    assert same_clauses(["x"], ["x"])
    assert not same_clauses(["x"], ["y"])
    assert not same_clauses([], ["x"])


@given(st.lists(st.sampled_from(["event", "eq", "", "Ä"]) | st.sampled_from(KEYWORDS) | st.text(max_size=3)))
def test_any_tokens_are_judged(tokens):
    assert same_clauses(tokens, tokens)
    assert same_clauses(QUERY.split(), tokens) in (True, False)
    assert parameters(tokens) <= sum("".join(tokens).count(letter) for letter in "GFOCST")


def test_the_judge_and_the_grouping():
    (judge,) = judges("okapi", None)
    assert judge.name == "clause_accuracy"
    assert judge.same(QUERY.split(), QUERY.split())
    (by_parameters,) = groupings("okapi")
    assert by_parameters.name == "parameters"
    assert by_parameters.key([], QUERY.split()) == 4


@pytest.mark.skipif(not os.environ.get("FTOR_DATA"), reason="FTOR_DATA does not say where the real data is")
@pytest.mark.parametrize(
    ("domain", "expected"),
    [("calendar", {4: 1044, 5: 17}), ("email", {4: 904, 5: 87}), ("document", {5: 332, 6: 174, 7: 8})],
)
def test_published_queries(domain, expected):
    pairs = read_pairs(Path(os.environ["FTOR_DATA"]) / "okapi_length2" / domain / "test.tsv")
    assert Counter(parameters(pair.target) for pair in pairs) == expected
