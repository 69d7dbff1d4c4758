"""The executor: worked examples, plain lists as an oracle, and limits that hold whatever is asked."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftor.datasets.geo import answer, execute, read, world
from ftor.datasets.geo.execute import EXTREMES, FILTERS, MEASURES, RELATIONS, UNKEYED
from ftor.datasets.terms import QueryError
from oracles import geo as oracle

WORKED = [
    ("state all", "stateid(avalon) stateid('north brook') stateid(quill)"),
    ("city all", "cityid(gull,qu) cityid(mill,av) cityid(mill,nb) cityid('port avon',av)"),
    ("lake all", "mere"),
    ("lake loc_2 stateid avalon", ""),
    ("mountain all", "placeid('avon river') placeid('high moor') placeid('mount gale') placeid('red river') "
                     "placeid(tor)"),
    ("capital all", "cityid(mill,nb) cityid('port avon',av) cityid(tern,qu)"),
    ("capital city all", "cityid(mill,nb) cityid('port avon',av)"),
    ("major city all", "cityid(mill,nb) cityid('port avon',av)"),
    ("major river all", "riverid(avon)"),
    ("capital_1 stateid quill", "cityid(tern,qu)"),
    ("capital_2 cityid mill _", "stateid('north brook')"),
    # an open field is all that it may be to relations, and the first to filters and measures
    ("loc_1 cityid mill _", "countryid(usa) stateid(avalon) stateid('north brook')"),
    ("state loc_1 city cityid mill _", "stateid(avalon)"),
    ("capital cityid mill _", "cityid(mill,nb)"),
    ("major cityid mill _", "cityid(mill,nb)"),
    ("population_1 cityid mill _", "100000"),
    ("population_1 cityid mill nb", "300000"),
    ("cityid mill _", "cityid(mill,_)"),
    ("largest cityid mill _", "cityid(mill,av)"),
    ("intersection cityid mill _ loc_2 stateid north brook", "cityid(mill,nb)"),
    ("intersection city all cityid mill _", "cityid(mill,av)"),
    ("exclude city all cityid mill _", "cityid(gull,qu) cityid('port avon',av)"),
    # numbers are as they are in the facts, areas and densities are floats, and 3 is not 3.0
    ("population_1 state all", "600 1000500.0 2000000.0"),
    ("area_1 state all", "50.0 100.0 200.0"),
    ("density_1 stateid quill", "12.0"),
    ("area_1 cityid mill av", ""),
    ("population_1 countryid usa", ""),
    ("count state all", "3"),
    ("count area_1 state all", "3"),
    ("sum len river all", "1400"),
    ("sum area_1 state all", "350.0"),
    ("sum area_1 loc_1 riverid avon", "500.0"),
    ("sum len river stateid quill", "0"),
    ("intersection count state all sum count state all", "3"),
    ("count loc_2 countryid usa", "15"),
    # of elevations the first in the file counts, but comparisons look at all of them
    ("elevation_1 placeid avon river", "5"),
    ("elevation_2 elevation_1 placeid tor", "placeid(tor)"),
    ("lower_2 placeid tor", "placeid('avon river') placeid('red river')"),
    ("higher_1 placeid avon river", "placeid('avon river') placeid('red river')"),
    ("higher_2 placeid high moor", ""),
    # ties go to the first
    ("highest place all", "placeid('mount gale')"),
    ("highest exclude place all placeid mount gale", "placeid('high moor')"),
    ("shortest river all", "riverid(red)"),
    ("smallest population_1 state all", "600"),
    ("longest state all", ""),
    ("largest_one density_1 state all", "stateid('north brook')"),
    ("largest_one density_1 city all", ""),
    ("smallest_one population_1 city all", "cityid(mill,av)"),
    ("most river traverse_2 state all", "stateid('north brook')"),
    ("most state traverse_1 river all", "riverid(avon)"),
    ("fewest city loc_2 state all", "stateid('north brook')"),
    ("fewest major city loc_2 state all", "stateid(quill)"),
    ("most state next_to_2 state all", "stateid('north brook')"),
    ("longer riverid red", "riverid(avon)"),
    ("next_to_1 stateid avalon", "stateid('north brook')"),
    ("high_point_1 countryid usa", "placeid('mount mckinley')"),
    ("low_point_2 placeid avon river", "stateid(avalon) stateid('north brook')"),
    ("traverse_2 countryid usa", ""),
    ("each state stateid quill", "stateid(quill)"),
    # existence is only checked by filters
    ("stateid nowhere", "stateid(nowhere)"),
    ("state stateid nowhere", ""),
    # what means nothing has the empty answer
    ("country all", ""),
    ("elevation_2 0", ""),
    ("all", ""),
    ("count all", ""),
    ("count most city all", ""),
    ("most capital_1 state all", ""),
    ("count most city population_1 state all", ""),
]  # fmt: skip


@pytest.mark.parametrize(("query", "expected"), WORKED, ids=[query for query, _ in WORKED])
def test_worked_examples(folder, query, expected):
    assert " ".join(answer(["answer", *query.split()], folder)) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("sum state all", "expected numbers to add, found stateid"),
        ("most population_1 state all", "expected lists to count, found numbers"),
        ("largest_one loc_1 city all", "expected numbers to compare, found lists"),
        ("_", "expected an expression, found '_'"),
    ],
)
def test_what_cannot_be_computed_is_an_error(folder, query, message):
    with pytest.raises(QueryError, match=message):
        answer(["answer", *query.split()], folder)


LEAVES = [
    "stateid quill", "stateid north brook", "cityid mill av", "riverid avon", "placeid avon river",
    "countryid usa", *(f"{kind} all" for kind in FILTERS if kind != "major"),
]  # fmt: skip
UNARY = [*FILTERS, *MEASURES, *RELATIONS, *UNKEYED, *EXTREMES, "count", "sum"]
UNARY += ["largest_one", "smallest_one", "most", "fewest"]
QUERIES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.builds("{} {}".format, st.sampled_from(UNARY), inner),
        st.builds("{} {} {}".format, st.sampled_from(["intersection", "exclude"]), inner, inner),
    ),
    max_leaves=4,
)


def by_lists(query, country):
    try:
        found = oracle.evaluate(query, country)
    except oracle.Undefined:
        return set()
    except oracle.Unsummable:
        return None
    return {(*x, type(x[1])) for x in found}


def as_executed(query, known):
    try:
        found = execute(query, world(known))
    except QueryError:
        return None
    plain = [("n", v.content) if v.kind in ("int", "float") else tuple(filter(None, v)) for v in found]
    return {(*x, type(x[1])) for x in plain}


@settings(max_examples=500)
@given(QUERIES)
def test_plain_lists_give_the_same_answers(known, text):
    query = read(["answer", *text.split()], known)
    assert as_executed(query, known) == by_lists(query, oracle.Country(known))


@pytest.mark.parametrize("measure", ["elevation_1", "size"])
def test_repeats_count_in_sums_as_often_as_in_lists(known, measure):
    query = read(f"answer sum {measure} higher_2 lower_2 higher_1 lower_1 place all".split(), known)
    assert as_executed(query, known) == by_lists(query, oracle.Country(known))


def test_chains_that_would_outgrow_memory_stay_small(known):
    tokens = ["answer", "sum", "elevation_1", *["higher_2", "lower_2"] * 45, "place", "all"]
    (found,) = execute(read(tokens, known), world(known))
    assert found.content > 10**40  # the sum over so many elements


def test_queries_over_the_budget_are_refused(known):
    query = read(["answer", "higher_2", "lower_2", "place", "all"], known)
    assert execute(query, world(known), steps=200)
    with pytest.raises(QueryError, match="the query takes more than 20 steps"):
        execute(query, world(known), steps=20)


def test_broad_queries_end_soon(known):
    tokens = ["intersection", "loc_2", "loc_1", "loc_2", "countryid", "usa"]
    tokens = ["answer", *tokens * 90, "countryid", "usa"]
    start = time.monotonic()
    execute(read(tokens, known), world(known))
    assert time.monotonic() - start < 5
