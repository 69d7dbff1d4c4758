"""Grammars as people write them: the notation, and errors that say where and what."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ftor.errors import FtorError
from ftor.grammar import Grammar, GrammarError, shipped_grammars
from oracles import grammar as oracle


def test_every_notation():
    grammar = Grammar.parse(
        """
        # a comment
        Query -> 'answer' Thing | "it's" | Number Query   # another
              | 'a#b' '#' '|' 'x:y'
        | 'left' 'edge'
        Thing : albany | baton rouge | _loc:_t_1 | ( a ) | '#' | "|" | '@copy' | '1..2' | '()' | it's
        Thing -> @copy Thing | ()
        Number : 7..11 | @copy
        """
    )
    accepted = [
        "answer", "answer albany", "answer baton rouge", "answer _loc:_t_1", "answer ( a )", "answer #",
        "answer |", "answer @copy", "answer 1..2", "answer ()", "answer it's", "it's", "10 it's",
        "a#b # | x:y", "left edge", "7 11 foo answer foo foo albany",
    ]  # fmt: skip
    for text in accepted:
        assert grammar.accepts(text.split(), ["foo"]), text
    for text in ["", "answer baton", "answer rouge", "12 it's", "6 it's", "foo", "answer 1", "07 it's"]:
        assert not grammar.accepts(text.split(), ["foo"]), text
    assert grammar.terminals[:3] == ("answer", "it's", "a#b")
    assert grammar.copies
    assert grammar.lengths(1) == [False, True]


def test_a_doubled_quote_is_one_quote():
    assert Grammar.parse("""S -> 'it''s' "say""so" '''' """).terminals == ("it's", 'say"so', "'")


def test_words_are_numbered_in_order_of_first_appearance():
    grammar = Grammar.parse("S -> 'x' N 'y' | 'x'\nN : 2..4 | z | 3 | @copy")
    assert grammar.terminals == ("x", "y", "2", "3", "4", "z")


def test_the_text_is_kept():
    text = "S -> 'a' # why\n"
    assert Grammar.parse(text).text == text
    assert Grammar.parse(Grammar.read("geo").text).terminals == Grammar.read("geo").terminals


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "g: no rules"),
        ("# nothing\n\n", "g: no rules"),
        ("S -> 'a'\nS -> Stat\nState -> 'b'", "g:2: rule 'S': expected the name of a rule, found 'Stat';"),
        ("S ::= 'a'", "g:1: rule 'S': expected -> or : after the name, found ::= or :="),
        ("S -> boston", "g:1: rule 'S': expected the name of a rule, found 'boston'; quote it"),
        ("S -> 'a' | A\nA -> A 'b'", "g:2: rule 'A' derives no string"),
        ("S -> S 'a'", "g:1: start symbol 'S' derives no string"),
        ("S -> A A\nA -> ()", "g:1: start symbol 'S' derives only the empty string"),
        ("S -> 'a'\nA -> 'b'", "g:2: rule 'A' is never used"),
        ("S -> 'a", "g:1: rule 'S': expected a closing quote, found \"'a\""),
        ("S -> 'a'\n  | 'b' \"c", "g:2: rule 'S': expected a closing quote"),
        ("S -> 'a'b", "g:1: rule 'S': expected a blank after 'a', found 'b'"),
        ("S -> ''", "g:1: rule 'S': expected a word in quotes, found nothing; write ()"),
        ("S -> 'new york'", "g:1: rule 'S': expected one word in quotes, found 'new york'"),
        ("S -> 'a' |", "g:1: rule 'S': expected an alternative, found nothing; write ()"),
        ("S ->", "g:1: rule 'S': expected an alternative"),
        ("S -> 'a' | | 'b'", "g:1: rule 'S': expected an alternative"),
        ("S -> 'a' ()", "g:1: rule 'S': expected () as a whole alternative"),
        ("S -> 'a'\n  T -> 'b'", "g:2: rule 'S': expected one '->' per rule"),
        ("S : a : b", "g:1: rule 'S': expected one ':' per rule"),
        ("S -> ( 'a' )", "g:1: rule 'S': expected a name or a word in quotes, found '('"),
        ("S : @word", "g:1: rule 'S': expected @copy, found '@word'"),
        ("S : 9..1", "g:1: rule 'S': expected the smaller number first, found '9..1'"),
        ("S : 0..10000", "g:1: rule 'S': expected at most 10000 numbers, found '0..10000'"),
        ("S : 00..9", "g:1: rule 'S': expected numbers without leading zeros, found '00..9'"),
        ("S : 1.." + "9" * 9999, "g:1: rule 'S': expected at most 10000 numbers"),
        ("S = 'a'", "g:1: expected 'Name -> …' or 'Name : …', found \"S = 'a'\""),
        ("| 'a'", "g:1: expected a rule to start at the left edge, found \"| 'a'\""),
        ("S -> 'a'\n2S -> 'b'", "g:2: expected 'Name -> …'"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_symbol(text, expected):
    with pytest.raises(GrammarError) as raised:
        Grammar.parse(text, "g")
    assert str(raised.value).startswith(expected)
    assert isinstance(raised.value, FtorError)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(GrammarError, match=r"nowhere.cfg: No such file .* one of atis, geo, okapi-calendar"):
        Grammar.read(tmp_path / "nowhere.cfg")
    with pytest.raises(GrammarError, match="Is a directory"):
        Grammar.read(tmp_path)
    with pytest.raises(GrammarError):
        Grammar.read("a\0b")
    (tmp_path / "latin.cfg").write_bytes(b"S -> 'a'\n  | 'caf\xe9'\n")
    with pytest.raises(GrammarError, match=r"latin.cfg:2: not UTF-8"):
        Grammar.read(tmp_path / "latin.cfg")


def test_files_from_other_systems(tmp_path):
    (tmp_path / "g.cfg").write_bytes("\ufeffS -> 'ä'\r\n   | 'b' S\r\n".encode())
    assert Grammar.read(tmp_path / "g.cfg").accepts(["b", "b", "ä"])
    assert Grammar.read(str(tmp_path / "g.cfg")).terminals == ("ä", "b")


def test_shipped_grammars_are_listed():
    assert shipped_grammars() == ["atis", "geo", "okapi-calendar", "okapi-document", "okapi-email"]


FRAGMENTS = st.sampled_from(
    ["S", "A", " ", "\n", "\n ", "->", ":", "|", "'a'", '"', "'", "#", "()", "(", "@copy", "@", "1..3", "b"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(FRAGMENTS, max_size=25).map("".join), st.text("S->:|' \n#")))
@example("S -> 'a\x00'")
@example("S -> 'a'\x0bT -> 'b'")
def test_any_text_is_a_grammar_or_a_grammar_error(text):
    try:
        grammar = Grammar.parse(text)
    except GrammarError:
        return
    assert any(grammar.lengths(30))
    grammar.accepts(grammar.terminals)


@given(oracle.grammars())
def test_a_written_grammar_reads_as_it_was_meant(grammar):
    if not any(oracle.language(grammar, 2, ["w"])):
        return
    read = Grammar.parse(oracle.write(grammar))
    assert read.terminals == tuple(oracle.words(grammar))
    assert read.copies == any("@copy" in parts for every in grammar.values() for parts in every)
    assert [rule.name for rule in read.rules] == [name for name, every in grammar.items() for _ in every]
