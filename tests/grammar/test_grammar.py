"""Recognising and searching against the enumeration of every short string."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch.testing import assert_close

from ftor.grammar import Grammar, GrammarError
from oracles import grammar as oracle

LONGEST = 4
SENTENCE = ("v", "w")


def read(grammar) -> tuple[Grammar, list[str], set[oracle.String]]:
    """The grammar, the words of its columns, and its strings of up to LONGEST words."""
    strings = oracle.language(grammar, LONGEST, SENTENCE)
    assume(any(strings))
    return Grammar.parse(oracle.write(grammar)), [*oracle.words(grammar), *SENTENCE], strings


def tables(scores, columns):
    return [dict(zip(columns, row, strict=True)) for row in scores.tolist()]


def spelled(columns, row):
    return tuple(columns[column] for column in row.tolist() if column >= 0)


@given(oracle.grammars(), st.integers(0, 10**6))
def test_accepts_exactly_the_language(grammar, seed):
    parsed, columns, strings = read(grammar)
    assert parsed.accepts([], SENTENCE) == (() in strings)
    assert not parsed.accepts(["unknown"], SENTENCE)
    generator = np.random.default_rng(seed)
    others = [tuple(generator.choice(columns, size)) for size in generator.integers(1, LONGEST + 1, 30)]
    for string in [*sorted(strings)[:60], *others]:
        assert parsed.accepts(string, SENTENCE) == (string in strings)
    without_copies = oracle.language(grammar, LONGEST)
    for string in sorted(strings)[:60]:
        assert parsed.accepts(string) == (string in without_copies)


@given(oracle.grammars())
def test_lengths_are_those_of_the_language(grammar):
    parsed, _, strings = read(grammar)
    found = {len(string) for string in strings} - {0}
    assert parsed.lengths(LONGEST) == [length in found for length in range(LONGEST + 1)]


@given(oracle.grammars())
def test_trees_are_derivations_of_their_strings(grammar):
    parsed, _, strings = read(grammar)
    for string in sorted(strings)[:40]:
        tree = parsed.tree(string, SENTENCE)
        assert tree.words == string
        assert tree.name == "S"
        assert oracle.is_derivation(grammar, tree, SENTENCE)
    assert parsed.tree(["unknown"]) is None


def test_trees_print():
    grammar = Grammar.parse("S -> A S | 'end'\nA -> 'a' B | ()\nB : x | y z")
    tree = grammar.tree(["a", "y", "z", "end"])
    assert str(tree) == "(S (A a (B y z)) (S end))"
    assert str(Grammar.parse("S -> A 'x'\nA -> ()").tree(["x"])) == "(S (A ()) x)"


def test_deep_trees():
    grammar = Grammar.parse("S -> 'a' S | 'end'")
    tree = grammar.tree(["a"] * 2000 + ["end"])
    assert len(tree.words) == 2001
    assert str(tree).count("(") == 2001


@given(oracle.grammars(), st.integers(0, 10**6))
def test_best_is_the_best_of_all_strings(grammar, seed):
    parsed, columns, strings = read(grammar)
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.arange(1, LONGEST + 1)
    scores = torch.randn(LONGEST, LONGEST, len(columns), generator=generator, dtype=torch.float64)
    scores[torch.rand(scores.shape, generator=generator) < 0.1] = -torch.inf
    log_scores, best = parsed.best(scores, lengths)
    for b, length in enumerate(lengths.tolist()):
        ranking = oracle.ranked(strings, tables(scores[b, :length], columns))
        if not ranking:
            assert log_scores[b] == -torch.inf
            assert (best[b] == -1).all()
            continue
        assert log_scores[b].item() == pytest.approx(ranking[0][0])
        assert spelled(columns, best[b]) == ranking[0][1]
        assert (best[b, length:] == -1).all()


@given(oracle.grammars(), st.integers(0, 10**6), st.integers(1, 9))
def test_n_best_are_the_first_of_all_strings(grammar, seed, n):
    parsed, columns, strings = read(grammar)
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([2, LONGEST, 3])
    scores = torch.randn(3, LONGEST, len(columns), generator=generator, dtype=torch.float64)
    log_scores, best = parsed.n_best(scores, lengths, n)
    assert best.shape == (3, n, LONGEST)
    for b, length in enumerate(lengths.tolist()):
        ranking = oracle.ranked(strings, tables(scores[b, :length], columns))[:n]
        assert [spelled(columns, row) for row in best[b, : len(ranking)]] == [words for _, words in ranking]
        assert log_scores[b, : len(ranking)].tolist() == pytest.approx([score for score, _ in ranking])
        assert (log_scores[b, len(ranking) :] == -torch.inf).all()
        assert (best[b, len(ranking) :] == -1).all()


@given(oracle.grammars(), st.integers(0, 10**6))
def test_equal_words_make_one_string(grammar, seed):
    """The two words of the sentence are spelled like the grammar's first word and like each other."""
    parsed, columns, _ = read(grammar)
    same = [columns[0] if word in SENTENCE else word for word in columns]
    strings = torch.tensor([[same.index(word) for word in same]])
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(1, 3, len(columns), generator=generator, dtype=torch.float64)
    log_scores, best = parsed.n_best(scores, torch.tensor([3]), 6, strings)
    ranking = {}
    for score, words in oracle.ranked(oracle.language(grammar, 3, SENTENCE), tables(scores[0], columns)):
        ranking.setdefault(tuple(same[columns.index(word)] for word in words), score)
    expected = list(ranking.items())[:6]
    assert [spelled(same, row) for row in best[0, : len(expected)]] == [words for words, _ in expected]
    assert log_scores[0, : len(expected)].tolist() == pytest.approx([score for _, score in expected])


@given(oracle.grammars(), st.integers(0, 10**6))
def test_samples_are_strings_of_the_language(grammar, seed):
    parsed, columns, strings = read(grammar)
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([1, 2, 3])
    scores = torch.randn(3, 3, len(columns), generator=generator, dtype=torch.float64)
    drawn = parsed.sample(scores, lengths, 2, generator)
    for b, length in enumerate(lengths.tolist()):
        possible = {string for string in strings if len(string) == length}
        for row in drawn[b]:
            assert (spelled(columns, row) in possible) if possible else (row == -1).all()


def test_samples_follow_the_scores_however_ambiguous_the_grammar():
    grammar = {"S": [["S", "S"], ["A"], ["B"], ["'a", "'b"]], "A": [["'a"], ["'b"], ["@copy"]], "B": [["'b"]]}
    parsed, columns = Grammar.parse(oracle.write(grammar)), ["a", "b", "w"]
    scores = torch.randn(1, 3, 3, dtype=torch.float64)
    ranking = oracle.ranked(oracle.language(grammar, 3, ["w"]), tables(scores[0], columns))
    assert len(ranking) == 27
    drawn = parsed.sample(scores, torch.tensor([3]), 20000, torch.Generator().manual_seed(1))[0]
    counts = {words: 0 for _, words in ranking}
    for row in drawn:
        counts[spelled(columns, row)] += 1
    weights = np.exp([score for score, _ in ranking])
    assert chisquare(list(counts.values()), 20000 * weights / weights.sum()).pvalue > 1e-3


def test_the_same_generator_draws_the_same_samples():
    grammar = Grammar.read("geo")
    scores, lengths = torch.randn(3, 8, len(grammar.terminals) + 2), torch.tensor([8, 5, 2])
    first, second = (grammar.sample(scores, lengths, 3, torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(first, second)
    for b, length in enumerate(lengths.tolist()):
        for row in first[b]:
            words = spelled([*grammar.terminals, "@1", "@2"], row)
            assert len(words) == length
            assert grammar.accepts(words, ["@1", "@2"])


def test_too_ambiguous_to_sample():
    grammar = Grammar.parse("S -> S S | 'a'")
    with pytest.raises(RuntimeError, match="in too many ways"):
        grammar.sample(torch.zeros(1, 16, 1), torch.tensor([16]), 1)


def test_errors_of_scores():
    grammar = Grammar.parse("S -> 'a' S | 'b'")
    scores, lengths = torch.zeros(1, 3, 2), torch.tensor([3])
    with pytest.raises(ValueError, match=r"scores: expected at least 2 columns .* found 1"):
        grammar.best(scores[:, :, :1], lengths)
    with pytest.raises(ValueError, match="lengths: expected 1 to 3, found 4 in row 0"):
        grammar.best(scores, lengths + 1)
    with pytest.raises(ValueError, match="scores: expected shape"):
        grammar.best(scores[0], lengths)
    with pytest.raises(ValueError, match="n: expected an integer of at least 1, found 0"):
        grammar.n_best(scores, lengths, 0)
    with pytest.raises(ValueError, match="strings: expected shape"):
        grammar.n_best(scores, lengths, 1, torch.zeros(1, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match="count: expected"):
        grammar.sample(scores, lengths, 0)


def test_text_that_was_not_split():
    grammar = Grammar.parse("S -> 'a' S | 'b'")
    with pytest.raises(TypeError, match="tokens: expected a list of words, found the string 'a b'"):
        grammar.accepts("a b")
    with pytest.raises(TypeError, match="sentence: expected a list of words"):
        grammar.tree(["b"], "b")


def test_a_start_that_is_one_word():
    grammar = Grammar.parse("S : a | b")
    log_scores, columns = grammar.best(torch.tensor([[[0.0, 1.0], [0.0, 0.0]]] * 2), torch.tensor([1, 2]))
    assert_close(log_scores, torch.tensor([1.0, -torch.inf]))
    assert columns.tolist() == [[1, -1], [-1, -1]]


def test_long_rules_and_large_grammars_compile_quickly():
    rules = "\n".join(f"X{i} -> 'w{i}' X{i + 1} Y 'z' Y | 'v{i}' | X{i + 1}" for i in range(400))
    grammar = Grammar.parse(f"{rules}\nX400 : end\nY -> {' '.join(['@copy'] * 100)}")
    assert len(grammar.terminals) == 802
    assert grammar.lengths(1) == [False, True]
    with pytest.raises(GrammarError):
        Grammar.parse(rules)


@pytest.mark.parametrize(
    "text",
    [
        *("S -> A | 'b' 'c'\nA -> 'a' | ()\n", "S -> A S 'd' | 'b'\nA -> 'a' | ()\n", "S -> 'a' | 'b' S\n"),
        *("S -> 'a' L 'd'\nL -> 'b' | 'b' 'c' L\n", "S -> L 'd' L\nL -> () | A L\nA -> 'b' | 'a' 'c'\n"),
    ],
)
def test_why_not_names_the_words_that_could_come(text):
    grammar = Grammar.parse(text)
    strings = [string for length in range(6) for string in product("abcd", repeat=length)]
    derived = [string for string in strings if grammar.accepts(string)]
    for string in [*strings[:5], ("x",), ("b", "x"), *map(tuple, ("bcx", "abc", "abca", "bda", "bdbc"))]:
        if string in derived:
            continue
        place = max(
            size for size in range(len(string) + 1) if any(one[:size] == string[:size] for one in derived)
        )
        assert grammar.misfit(string) == place
        could = {one[place] for one in derived if one[:place] == string[:place] and len(one) > place}
        expected = grammar.why_not(string).split("expected ")[1].split(", found")[0]
        assert set(expected.replace("'", "").split(", ")) == (could or {"the end"})
