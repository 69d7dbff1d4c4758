"""`ftor grammar`."""

import json

import pytest

from ftor.config import Config
from ftor.grammar import Grammar
from ftor.model.folder import write_description
from ftor.text.programs import Notation, Programs
from ftor.text.programs.grammars import inferred_grammar
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import read_pairs
from support.tiny import run_here

TARGETS = [
    f"( set ( lamps {' '.join(lamps)} ) {state} )"
    for lamps in (["a"], ["a", "b"], ["c", "a", "b"])
    for state in ("on", "off")
] * 3


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"do it\t{target}\n" for target in TARGETS), "utf-8")
    return path


def test_a_grammar_in_units_and_what_it_accepts(pairs):
    finished = run_here("grammar", "infer", pairs)
    assert finished.code == 0, finished.err
    assert Grammar.parse(finished.out)
    assert "typed: accepts 100.0 % of 2 programs held out, – of the 0 unseen ones" in finished.err
    assert [line.split(":")[0] for line in finished.err.splitlines()[-3:]] == ["typed", "union", "arity"]


def test_a_grammar_in_the_original_notation(pairs, tmp_path):
    finished = run_here("grammar", "infer", pairs, "--original", "--out", tmp_path / "lamps.cfg")
    assert finished.code == 0, finished.err
    grammar = Grammar.read(tmp_path / "lamps.cfg")
    assert all(grammar.accepts(target.split()) for target in TARGETS)
    assert grammar.accepts(["(", "set", "(", "lamps", "a", "b", "c", "a", "b", ")", "on", ")"])
    assert not grammar.accepts(["(", "set", "(", "lamps", "on", ")", "on", ")"])


def test_calls_have_separators(tmp_path):
    path = tmp_path / "pairs.tsv"
    targets = ["all(a)", "all(a, b)", "all(a, b, c)", "not(all(b, c))"] * 4
    path.write_text("".join(f"x\t{target}\n" for target in targets), "utf-8")
    finished = run_here("grammar", "infer", path, "--original")
    grammar = Grammar.parse(finished.out)
    assert grammar.accepts(["not", "(", "all", "(", "a", ",", "b", ",", "c", ",", "a", ")", ")"])
    assert not grammar.accepts(["not", "(", "all", "(", "a", ",", ")", ")"])


def test_names_in_quotes_have_no_separators(tmp_path):
    path = tmp_path / "pairs.tsv"
    targets = ['{"city": "rome", "with": []}', '{"city": "new york", "with": ["a  b"]}'] * 3
    path.write_text("".join(f"x\t{target}\n" for target in targets), "utf-8")
    grammar = Grammar.parse(run_here("grammar", "infer", path, "--original").out)
    city = ["{", '"city"', ":", '"', "york", "new", '"', ",", '"with"', ":", "[", "]", "}"]
    assert grammar.accepts(city)
    assert not grammar.accepts([*city[:5], ",", *city[5:]])


def test_targets_that_are_no_programs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a cat\tun chat\nthe dog\tle chien dort\n", "utf-8")
    finished = run_here("grammar", "infer", path)
    assert finished.code == 1
    assert "the targets are not programs" in finished.err


CALENDAR = "Query -> 'GET' Words | 'TOP' Number\nWords -> @copy | @copy Words\nNumber : 0..9\n"


@pytest.fixture
def calendar(tmp_path):
    path = tmp_path / "calendar.cfg"
    path.write_text(CALENDAR)
    return path


class TestCheck:
    def test_a_grammar(self, calendar):
        finished = run_here("grammar", "check", calendar)
        assert (finished.code, finished.err) == (0, "")
        assert (
            finished.out
            == f"{calendar}: 5 alternatives, 12 words and @copy; the shortest string has 2 words\n"
        )

    def test_its_targets(self, calendar, tmp_path):
        pairs = tmp_path / "pairs.tsv"
        pairs.write_text("a b\tGET b\nc\tTOP 3\n")
        finished = run_here("grammar", "check", calendar, "--pairs", pairs)
        assert (finished.code, finished.err) == (0, "")
        assert finished.out.endswith("derives 2 of 2 targets (100.0 %)\n")
        pairs.write_text("a b\tGET c\nc\tTOP 3\nc\tTOP\n")
        finished = run_here("grammar", "check", calendar, "--pairs", pairs)
        assert finished.code == 1
        assert f"{pairs}:1: word 2: expected @copy, found 'c'\n" in finished.out
        assert f"{pairs}:3: unfinished after 1 words: expected '0', '1', '2'" in finished.out
        assert finished.out.endswith("derives 1 of 3 targets (33.3 %)\n")
        assert finished.err == (
            f"error: {calendar}: does not derive 2 targets of {pairs}, "
            "read as words with blanks between them\n"
        )

    @pytest.mark.parametrize(
        "targets",
        [
            ["delete(filter(call, attendee(bob)))", "delete(meeting)", "find(attendee(ann))", "find(call)"],
            ["delete(title('team  call'))", "delete(title('call'))", "find(title(''))", "find([a, b])"],
            ['{"city": "rome", "with": []}', '{"city": "new york", "with": ["a b", ""]}'],
            ["(set (lamp a) on)", "(set (lamp b) off)", "(not (lamp 'big one'))"],
        ],
    )
    def test_programs_without_blanks(self, tmp_path, targets):
        pairs, path = tmp_path / "pairs.tsv", tmp_path / "inferred.cfg"
        pairs.write_text("".join(f"do it\t{target}\n" for target in targets * 3))
        assert run_here("grammar", "infer", pairs, "--original", "--out", path).code == 0
        finished = run_here("grammar", "check", path, "--pairs", pairs)
        assert (finished.code, finished.err) == (0, ""), finished.out
        count = 3 * len(targets)
        assert finished.out.endswith(f"derives {count} of {count} targets (100.0 %)\n")

    def test_the_grammar_of_a_model(self, tmp_path):
        targets = ["delete(filter(call, attendee(bob)))", "delete(meeting)", "find(title('team call'))"] * 3
        path = tmp_path / "pairs.tsv"
        path.write_text("".join(f"do it\t{target}\n" for target in targets))
        programs, pairs = Programs.learn(targets), read_pairs(path)
        grammar = Grammar.parse(inferred_grammar(encode_pairs(programs, pairs), programs))
        write_description(tmp_path, Config(), ["do", "it"], list(programs.units), grammar, programs)
        finished = run_here("grammar", "check", tmp_path, "--pairs", path)
        assert (finished.code, finished.err) == (0, ""), finished.out
        assert finished.out.endswith("derives 9 of 9 targets (100.0 %)\n")

    def test_a_program_that_does_not_fit(self, tmp_path):
        path, pairs = tmp_path / "calls.cfg", tmp_path / "pairs.tsv"
        path.write_text("S -> 'delete' '(' What ')'\nWhat -> 'call' | 'meeting'\n")
        pairs.write_text("do it\tdelete(bob)\ndo it\tfind(call)\ndo it\tdelete(call\n")
        finished = run_here("grammar", "check", path, "--pairs", pairs)
        assert finished.code == 1
        assert f"{pairs}:1: word 3: expected 'call', 'meeting', found 'bob'\n" in finished.out
        assert f"{pairs}:2: word 1: expected 'delete', found 'find'\n" in finished.out
        assert f"{pairs}:3: word 1: expected 'delete', found 'delete(call'\n" in finished.out
        assert finished.err.endswith(f"does not derive 3 targets of {pairs}, read as calls\n")

    def test_errors_are_shown_with_a_caret(self, tmp_path):
        path = tmp_path / "g.lark"
        path.write_text('start: "a" foo\n')
        finished = run_here("grammar", "check", path)
        assert (finished.code, finished.out) == (1, "")
        place = f"error: {path}:1:12: expected the name of a rule, found 'foo'"
        assert finished.err == f'{place}\n    start: "a" foo\n               ^\n'


JSON = [f'{{"play": ["{song}", "help"], "loud": {loud}}}' for song in ("blue moon", "yes") for loud in (1, 2)]


@pytest.fixture
def in_json(tmp_path):
    """Give pairs of JSON, and a grammar of their words and of their units."""
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"do it\t{target}\n" for target in JSON * 5))
    assert run_here("grammar", "infer", pairs, "--original", "--out", tmp_path / "words.cfg").code == 0
    assert run_here("grammar", "infer", pairs, "--out", tmp_path / "units.cfg").code == 0
    return tmp_path


class TestJson:
    def test_programs_are_parsed(self, in_json):
        finished = run_here("grammar", "parse", in_json / "words.cfg", *JSON)
        assert (finished.code, finished.err) == (0, "")
        assert len(finished.out.splitlines()) == len(JSON)
        finished = run_here("grammar", "parse", in_json / "words.cfg", '{"stop": 1}')
        assert "word 2: expected '\"play\"', found '\"stop\"'" in finished.err

    def test_a_grammar_in_units_is_named(self, in_json):
        units = in_json / "units.cfg"
        check = run_here("grammar", "check", units, "--pairs", in_json / "pairs.tsv")
        for finished in (check, run_here("grammar", "parse", units, JSON[0])):
            assert finished.code == 1
            (line,) = [line for line in finished.err.splitlines() if line.startswith(f"{units}: '")]
            assert "looks like a unit of programs; if the grammar is over units, give the model" in line

    def test_a_dot_alone_is_no_unit(self, tmp_path):
        (tmp_path / "dots.cfg").write_text("S -> '·' T\nT -> 'col·lecció'\n", "utf-8")
        finished = run_here("grammar", "parse", tmp_path / "dots.cfg", "x")
        assert "'col·lecció' looks like a unit of programs; if the grammar is over units" in finished.err

    def test_strings_have_no_blanks_at_their_ends(self, in_json):
        finished = run_here("grammar", "sample", in_json / "words.cfg", "--count", 20)
        grammar = Grammar.read(in_json / "words.cfg")
        for line in finished.out.splitlines():
            values = json.loads(line)["play"]
            assert all(value == value.strip() for value in values)
            assert grammar.accepts(Notation("json").split(line))

    @pytest.mark.parametrize("format_", ["gbnf", "lark"])
    def test_nor_have_those_of_exported_grammars(self, in_json, format_):
        finished = run_here("grammar", "export", in_json / "words.cfg", "--format", format_)
        read = Grammar.parse(finished.out, "g", format_)
        assert read.accepts(
            ["{", '"play"', ":", "[", '"blue', 'moon"', ",", '"help"', "]", ",", '"loud"', ":", "1", "}"]
        )
        assert not read.accepts(
            [
                "{",
                '"play"',
                ":",
                "[",
                '"',
                "blue",
                "moon",
                '"',
                ",",
                '"help"',
                "]",
                ",",
                '"loud"',
                ":",
                "1",
                "}",
            ]
        )


class TestParse:
    def test_trees(self, calendar):
        finished = run_here(
            "grammar", "parse", calendar, "TOP 3", "GET ann lee", "--sentence", "where is ann lee"
        )
        assert (finished.code, finished.err) == (0, "")
        assert finished.out == "(Query TOP (Number 3))\n(Query GET (Words ann (Words lee)))\n"

    def test_what_does_not_fit(self, calendar):
        finished = run_here("grammar", "parse", calendar, "TOP 3", "GET ann", "TOP 3 4")
        assert (finished.code, finished.out) == (1, "(Query TOP (Number 3))\n")
        assert finished.err.splitlines() == [
            "error: 'GET ann': word 2: expected @copy, found 'ann'",
            "'TOP 3 4': word 3: expected the end, found '4'",
        ]

    def test_the_first_word_does_not_fit(self, calendar):
        finished = run_here("grammar", "parse", calendar, "PUT 3", "")
        assert (finished.code, finished.out) == (1, "")
        assert finished.err.splitlines() == [
            "error: 'PUT 3': word 1: expected 'GET', 'TOP', found 'PUT'",
            "'': the string is empty: expected 'GET', 'TOP'",
        ]


class TestSample:
    def test_strings(self, calendar):
        sentence = ["x", "y"]
        finished = run_here("grammar", "sample", calendar, "--count", 20, "--longest", 5, "--sentence", "x y")
        assert (finished.code, finished.err) == (0, "")
        strings = [line.split() for line in finished.out.splitlines()]
        assert len(strings) == 20
        assert all(Grammar.parse(CALENDAR).accepts(string, sentence) for string in strings)
        assert {len(string) for string in strings} == {2, 3, 4, 5}
        assert (
            run_here("grammar", "sample", calendar, "--count", 20, "--longest", 5, "--sentence", "x y")
            == finished
        )

    def test_without_a_sentence_nothing_is_copied(self, calendar):
        finished = run_here("grammar", "sample", calendar)
        assert {line.split()[0] for line in finished.out.splitlines()} == {"TOP"}

    def test_no_string_is_so_short(self, calendar):
        finished = run_here("grammar", "sample", calendar, "--longest", 1)
        assert (finished.code, finished.out) == (1, "")
        assert finished.err == f"error: {calendar}: it derives no string of at most 1 words\n"


class TestExport:
    def test_the_suffix_chooses_the_format(self, calendar, tmp_path):
        for suffix in ("lark", "gbnf", "cfg"):
            path = tmp_path / f"out.{suffix}"
            finished = run_here("grammar", "export", calendar, "--out", path)
            assert (finished.code, finished.out, finished.err) == (0, "", "")
            assert Grammar.read(path).accepts(["TOP", "3"])
            assert run_here("grammar", "export", calendar, "--format", suffix).out == path.read_text()

    def test_a_sentence(self, calendar):
        finished = run_here("grammar", "export", calendar, "--format", "gbnf", "--sentence", "ann lee")
        assert finished.out.endswith('copy ::= "ann" | "lee"\n')

    def test_the_grammar_of_a_model(self, run, tmp_path):
        (tmp_path / "my.lark").write_text('start: "k" (" " start)?')
        folder = run("run", decoding__grammar=str(tmp_path / "my.lark"), training__epochs=1)
        assert (folder / "grammar.cfg").read_text().startswith("start -> ")
        finished = run_here("grammar", "export", folder, "--format", "gbnf")
        assert (finished.code, finished.err) == (0, "")
        assert Grammar.parse(finished.out, "g", "gbnf").accepts(["k", "k", "k"])
        finished = run_here("predict", folder, "a b", "--grammar", tmp_path / "my.lark")
        assert finished.code == 0, finished.err

    def test_a_model_without_a_grammar(self, trained):
        finished = run_here("grammar", "export", trained)
        assert (finished.code, finished.out) == (1, "")
        assert finished.err == f"error: {trained}: the model has no grammar\n"
