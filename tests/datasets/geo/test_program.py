"""Reading queries from tokens: names of several words, arities, and anything that is no query."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftor.datasets.geo import answer, read, read_as_released, same_answer
from ftor.datasets.geo.program import ARITIES, RELEASED_ARITIES
from ftor.datasets.terms import DEEPEST, QueryError, Term


def shown(term):
    return f"{term.head}({', '.join(map(shown, term.arguments))})" if term.arguments else term.head


@pytest.mark.parametrize(
    ("tokens", "expected", "released"),
    [
        ("state stateid north brook", "state(stateid(north brook))", "state(stateid(northbrook))"),
        ("cityid port avon _", "cityid(port avon, _)", "cityid(portavon, _)"),
        ("cityid mill nb", "cityid(mill, nb)", "cityid(mill, nb)"),
        ("placeid king's seat", "placeid(king's seat)", "placeid(king'sseat)"),
        # the river Avon, and in the released reading the place called avon river
        ("intersection riverid avon river loc_2 stateid avalon",
         "intersection(riverid(avon), river(loc_2(stateid(avalon))))",
         "intersection(riverid(avonriver), loc_2(stateid(avalon)))"),
        ("state stateid Who", "state(stateid(_))", "state(stateid(_))"),
        ("riverid mount gale", "riverid(mount gale)", "riverid(mountgale)"),
        ("each state all", "each(state(all))", None),
        ("higher_1 place all", "higher_1(place(all))", None),
        ("stateid ?", "stateid(?)", "stateid(?)"),
        ("stateid @COPY@", None, None),
        ("stateid st.", None, None),
        ("stateid new avalon", None, None),
        ("state", None, None),
        ("cityid mill", None, None),
        ("", None, None),
    ],
)  # fmt: skip
def test_reading(known, tokens, expected, released):
    for reader, tree in ((read, expected), (read_as_released, released)):
        if tree is None:
            with pytest.raises(QueryError):
                reader(tokens.split(), known)
        else:
            assert shown(reader(tokens.split(), known)) == tree


def test_there_are_fifty_released_functions_and_four_more():
    assert len(RELEASED_ARITIES) == 50
    assert set(ARITIES) - set(RELEASED_ARITIES) == {"country", "each", "higher_1", "lower_1"}


def test_a_constant_may_be_a_whole_program(known):
    assert read(["all"], known) == Term("all")


def test_errors_say_where(known):
    with pytest.raises(QueryError, match=r"token 3: expected the end of the query, found 'texas'"):
        read(["state", "all", "texas"], known)
    with pytest.raises(QueryError, match=r"token 2: expected a function, a name or a number, found '\('"):
        read(["answer", "(", "state", ")"], known)
    with pytest.raises(QueryError, match=f"more than {DEEPEST} levels"):
        read(["state"] * 5000 + ["all"], known)


WORDS = st.sampled_from(
    [*ARITIES, "all", "_", "avon", "river", "north", "brook", "mill", "av", "0", "usa", "("]
)


@settings(max_examples=200)
@given(st.lists(WORDS | st.text(max_size=4), max_size=12), st.booleans())
def test_any_tokens_have_an_answer_or_a_documented_error(folder, tokens, released):
    try:
        found = answer(tokens, folder, released)
        assert isinstance(found, tuple)
    except QueryError:
        pass
    gold = ["answer", "state", "all"]
    assert same_answer(tokens, tokens, folder, released)
    assert isinstance(same_answer(gold, tokens, folder, released), bool)


class TestSameAnswer:
    @pytest.mark.parametrize(
        ("gold", "predicted", "same", "released"),
        [
            ("state all", "state loc_2 countryid usa", True, True),
            ("capital_1 stateid quill", "capital_1 stateid avalon", False, False),
            ("capital_1 stateid quill", "capital_1 stateid north brook", False, False),
            # without blanks, no state is called north brook
            ("capital_1 stateid north brook", "capital cityid mill nb", True, False),
            ("capital_1 stateid north brook", "capital_1 stateid no", False, True),
            ("count area_1 state all", "population_1 stateid quill", False, False),
            ("lake loc_2 stateid quill", "country all", True, False),
            ("sum state all", "sum state all", True, True),
            ("sum state all", "sum sum state all", False, False),
            ("state all", "state", False, False),
        ],
    )
    def test_pairs(self, folder, gold, predicted, same, released):
        pair = ["answer", *gold.split()], ["answer", *predicted.split()]
        assert same_answer(*pair, folder) == same
        assert same_answer(*pair, folder, released=True) == released

    def test_finds_the_facts_itself(self, folder, monkeypatch):
        monkeypatch.setenv("FTOR_DATA", str(folder))
        assert same_answer(["answer", "state", "all"], ["answer", "state", "loc_2", "countryid", "usa"])
