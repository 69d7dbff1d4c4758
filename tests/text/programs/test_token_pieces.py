"""Tokens of several parts come back from their pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.grammar import Grammar, GrammarError
from ftor.text.programs import ProgramError, UnitSettings
from ftor.text.programs.grammars import over_units
from ftor.text.programs.pairs import encode_pairs, learn_programs, read_units
from ftor.text.programs.token_pieces import GLUE, PieceUnits, are_glued, pieces
from ftor.text.reading import Pair
from ftor.tuning.look import look

TOKENS = st.text(
    st.characters(exclude_characters=GLUE, exclude_categories=("Z", "C")), min_size=1, max_size=8
).filter(lambda token: token.split() == [token])
TEXTS = st.lists(TOKENS, min_size=1, max_size=4).map(" ".join)
DATES = [f"{year}-{month:02}-{day:02}" for year in (2001, 2015) for month in (3, 11) for day in range(1, 29)]


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(1, 3))
def test_targets_come_back(texts, count):
    units = PieceUnits.learn(texts, UnitSettings(count=count))
    again = read_units(units.to_dict())
    for text in texts:
        assert again.decode(units.encode(text)) == text
        assert again.spell(units.encode(text)) == text.split()


def test_words_and_numbers_have_no_glue():
    units = PieceUnits.learn(["2009-12-19 at 14:30h", "a.m."], UnitSettings(share=2, child_share=2))
    assert units.encode("2009-12-19 at 14:30h") == [
        *("2009", "⁀-⁀", "12", "⁀-⁀", "19"),
        "at",
        *("14", "⁀:⁀", "30", "⁀h"),
    ]
    assert units.spell(["1066", "⁀-⁀", "10", "⁀-⁀", "14"]) == ["1066-10-14"]  # numbers of another sentence


def test_the_glue_cannot_be_read():
    with pytest.raises(ProgramError, match=GLUE):
        PieceUnits.learn([f"a{GLUE}b"])


def test_accents_belong_to_their_letters():
    assert pieces("नमस्ते दुनिया 12:30") == ["नमस्ते", "दुनिया", "12", "⁀:⁀", "30"]


def test_the_look_reads_targets_with_the_glue_as_tokens():
    rows = [*DATES, f"a{GLUE}b"]
    pairs = [Pair((date,), (date,), line, target_text=date) for line, date in enumerate(rows, 1)]
    assert look(pairs).settings["data.programs"] == "none"


def test_a_grammar_over_tokens_is_refused():
    units = PieceUnits.learn(DATES)
    with pytest.raises(GrammarError, match="read in pieces"):
        over_units(Grammar.parse("S -> '2001-03-01'"), units)


def test_only_rare_tokens_of_frequent_pieces_are_glued():
    assert are_glued(DATES, 0.15, 0.3)
    assert not are_glued(["well-known dogs", "well-known cats"] * 5, 0.15, 0.3)
    assert not are_glued([f"word{'x' * number}" for number in range(20)], 0.15, 0.3)


def test_the_look_chooses_pieces_for_dates():
    pairs = [
        Pair(tuple(reversed(date.split("-"))), (date,), line, target_text=date)
        for line, date in enumerate(DATES, 1)
    ]
    found = look(pairs)
    assert found.settings["data.programs"] == "pieces"
    learned = learn_programs("pieces", {"train": pairs}, UnitSettings(), True)
    assert encode_pairs(learned.units, pairs)[0].target == ("2001", "⁀-⁀", "03", "⁀-⁀", "01")
    assert "pieces of tokens" in str(learned)
