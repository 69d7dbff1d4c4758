"""`ftor grammar infer`."""

import pytest

from ftor.grammar import Grammar
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
