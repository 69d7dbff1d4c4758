"""The chart kernels against plain Python: the same strings, ties included, in whatever batch."""

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch.testing import assert_close

from ftor import ops
from ftor.grammar import Grammar, GrammarError
from ftor.ops import LOG_ZERO
from oracles import grammar as oracle

DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
AMBIGUOUS = Grammar.parse("S -> S S | 'a' | A | S 'b' A\nA -> 'a' | 'c' A | @copy")


def scores_of(grammar, batch, longest, copied=2, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    columns = len(grammar.terminals) + copied
    return torch.randn(batch, longest, columns, generator=generator, dtype=torch.float64).to(dtype)


def naively(grammar, *args):
    with ops.implementation("torch"):
        return grammar.n_best(*args)


@given(oracle.grammars(), st.integers(0, 10**6), st.integers(1, 6))
def test_kernels_agree_with_plain_python(written, seed, n):
    try:
        grammar = Grammar.parse(oracle.write(written))
    except GrammarError:
        assume(False)
    lengths = torch.tensor([5, 1, 3])
    # Integers make many ties, and no rounding that could break them; copied words may be the same.
    scores = scores_of(grammar, 3, 5, seed=seed).round()
    strings = torch.randint(3, (3, scores.shape[2]), generator=torch.Generator().manual_seed(seed))
    strings += torch.arange(scores.shape[2])
    for args in [(scores, lengths, n), (scores, lengths, n, strings)]:
        for found, expected in zip(grammar.n_best(*args), naively(grammar, *args), strict=True):
            assert torch.equal(found, expected)


@DTYPES
@pytest.mark.parametrize("n", [1, 4])
def test_batches_do_not_change_their_rows(dtype, n):
    lengths = torch.tensor([7, 1, 4, 2, 7, 3])
    scores = scores_of(AMBIGUOUS, len(lengths), 7, dtype=dtype)
    log_scores, columns = AMBIGUOUS.n_best(scores, lengths, n)
    assert log_scores.dtype == dtype
    assert columns.dtype == torch.int64
    for b, length in enumerate(lengths.tolist()):
        alone = AMBIGUOUS.n_best(scores[b : b + 1, :length], lengths[b : b + 1], n)
        assert torch.equal(alone[0][0], log_scores[b])
        assert torch.equal(alone[1][0], columns[b, :, :length])
        assert (columns[b, :, length:] == -1).all()


def test_what_lies_past_a_length_is_not_read():
    scores, lengths = scores_of(AMBIGUOUS, 2, 5), torch.tensor([3, 5])
    spoiled = scores.clone()
    spoiled[0, 3:] = torch.nan
    for found, expected in zip(
        AMBIGUOUS.n_best(spoiled, lengths, 3), AMBIGUOUS.n_best(scores, lengths, 3), strict=True
    ):
        assert torch.equal(found, expected)


@pytest.mark.parametrize("impossible", [-torch.inf, LOG_ZERO])
def test_impossible_tokens(impossible):
    grammar = Grammar.parse("S -> 'a' S | 'b'")
    scores = torch.full((2, 3, 2), impossible)
    scores[0, :2, 0] = -1.0
    log_scores, columns = grammar.best(scores, torch.tensor([3, 3]))
    assert log_scores.tolist() == [-torch.inf, -torch.inf]
    assert (columns == -1).all()
    scores[0, 2, 1] = -2.0
    log_scores, columns = grammar.best(scores, torch.tensor([3, 3]))
    assert log_scores.tolist() == [-4.0, -torch.inf]
    assert columns.tolist() == [[0, 0, 1], [-1, -1, -1]]
    assert grammar.sample(scores, torch.tensor([3, 3]), 2).tolist() == [[[0, 0, 1]] * 2, [[-1] * 3] * 2]


def test_a_length_without_strings():
    grammar = Grammar.parse("S -> 'a' 'b' | 'a' 'b' S")
    log_scores, columns = grammar.n_best(torch.zeros(3, 5, 2), torch.tensor([1, 4, 5]), 2)
    assert log_scores.tolist() == [[-torch.inf] * 2, [0.0, -torch.inf], [-torch.inf] * 2]
    assert columns[1].tolist() == [[0, 1, 0, 1, -1], [-1] * 5]
    assert (columns[[0, 2]] == -1).all()


def test_ties_go_to_the_shortest_left_part_and_the_first_column():
    grammar = Grammar.parse("S -> A B\nA -> 'a' | 'a' 'a'\nB -> 'b' 'b' | 'b' | 'c' | 'c' 'c'")
    _, columns = grammar.best(torch.zeros(1, 3, 3), torch.tensor([3]))
    assert columns.tolist() == [[0, 1, 1]]


def test_an_ambiguous_string_comes_once():
    grammar = Grammar.parse("S -> S S | S S S | A | 'a'\nA -> 'a'")
    log_scores, columns = grammar.n_best(torch.zeros(1, 12, 1), torch.tensor([12]), 3)
    assert log_scores.tolist() == [[0.0, -torch.inf, -torch.inf]]
    assert columns[0, 0].tolist() == [0] * 12


def test_half_precision_and_gradients_are_taken():
    scores = scores_of(AMBIGUOUS, 1, 4).requires_grad_()
    log_scores, columns = AMBIGUOUS.best(scores, torch.tensor([4]))
    assert not log_scores.requires_grad
    half, same = AMBIGUOUS.best(scores.detach().bfloat16(), torch.tensor([4]))
    assert half.dtype == torch.bfloat16
    assert_close(half.double(), log_scores, rtol=0.05, atol=0.05)
    assert same.shape == columns.shape


def test_no_rows():
    log_scores, columns = AMBIGUOUS.n_best(scores_of(AMBIGUOUS, 0, 4), torch.zeros(0, dtype=torch.int64), 2)
    assert log_scores.shape == (0, 2)
    assert columns.shape == (0, 2, 4)


def test_threads_do_not_change_the_result():
    grammar = Grammar.read("geo")
    lengths = torch.arange(2, 12)
    scores = scores_of(grammar, len(lengths), 11, dtype=torch.float32)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(
                (
                    *grammar.n_best(scores, lengths, 2),
                    grammar.sample(scores, lengths, 2, torch.Generator().manual_seed(0)),
                )
            )
    finally:
        torch.set_num_threads(before)
    for one, two in zip(*results, strict=True):
        assert torch.equal(one, two)
