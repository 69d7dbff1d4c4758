"""The fertility operations: kernels against plain torch, extremes, gradients and torch operators.

Enumerations are in tests/distributions.
"""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck

from ftor.ops import LOG_ZERO, fertility, implementation, threads
from ftor.ops.fertility import cpu, naive
from oracles import fertility as oracle

# A factor of exp(-200) for every copy leaves F̃ as it is, but makes all lengths from 2 on so improbable that
# the kernels go from linear to log space.
tilts = pytest.mark.parametrize("tilt", [0.0, -200.0], ids=["linear", "log-space"])


def tilted(log_p: Tensor, tilt: float) -> Tensor:
    return log_p + tilt * torch.arange(log_p.shape[-1])


def random_log_p(*shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float64) -> Tensor:
    return (scale * torch.randn(*shape, dtype=dtype)).log_softmax(-1)


def certain(fertilities: list[int], d: int) -> Tensor:
    """log_p (1, n, d+1) of tokens that surely have these fertilities."""
    log_p = torch.full((1, len(fertilities), d + 1), LOG_ZERO, dtype=torch.float64)
    log_p[0, torch.arange(len(fertilities)), fertilities] = 0.0
    return log_p


def pad_tokens(log_p: Tensor, padding: int) -> Tensor:
    """Append tokens of fertility 0."""
    batch, _, width = log_p.shape
    tail = certain([0] * padding, width - 1).to(log_p.dtype).expand(batch, -1, -1)
    return torch.cat([log_p, tail], dim=1)


def test_fewer_lengths_are_the_first_of_all_lengths(both: str) -> None:
    log_p = random_log_p(2, 4, 4)
    assert torch.equal(fertility.length_log_probs(log_p, 5), fertility.length_log_probs(log_p, 12)[:, :6])
    assert fertility.length_log_probs(log_p, 0).shape == (2, 1)


def test_the_length_of_each_row_is_its_entry_in_the_table(both: str) -> None:
    log_p, lengths = random_log_p(9, 3, 3), torch.tensor([-1, 0, 1, 2, 3, 4, 5, 6, 7])
    found = fertility.log_prob_length(log_p, lengths)
    table = fertility.length_log_probs(log_p, 7)
    torch.testing.assert_close(found[1:], table[1:].gather(1, lengths[1:].unsqueeze(1)).squeeze(1))
    assert found[0] == found[8] == LOG_ZERO


def test_lengths_out_of_reach_are_log_zero(both: str) -> None:
    log_probs = fertility.length_log_probs(random_log_p(2, 3, 3), 9)
    assert bool((log_probs[:, :7] > -100).all())
    assert bool((log_probs[:, 7:] == LOG_ZERO).all())


@pytest.mark.parametrize("length", [1, 7, 11, 20])
def test_marginals_are_those_of_the_published_sum(both: str, length: int) -> None:
    log_p = random_log_p(1, 7, 5, scale=2.0)
    found = fertility.marginals(log_p, torch.tensor([length]), length)
    torch.testing.assert_close(found[0], oracle.published_marginals(log_p[0].exp(), length))


def test_the_two_oracles_agree() -> None:
    p = random_log_p(4, 4).exp()
    torch.testing.assert_close(oracle.published_marginals(p, 5), oracle.marginals(p, 5))


def test_worked_example_of_the_readme(both: str) -> None:
    p = torch.tensor([[[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]], dtype=torch.float64)
    log_p = p.log().requires_grad_()
    lengths = torch.tensor([2])
    log_probs = fertility.length_log_probs(log_p, 4)
    torch.testing.assert_close(log_probs.exp(), torch.tensor([[0.12, 0.36, 0.35, 0.14, 0.03]]).double())
    found = fertility.marginals(log_p, lengths, 2)
    expected = torch.tensor([[[33, 0], [0, 18]], [[2, 0], [15, 2]]]) / 35
    torch.testing.assert_close(found[0], expected.double(), rtol=1e-6, atol=0)
    (gradient,) = torch.autograd.grad(log_probs[0, 2], log_p)
    torch.testing.assert_close(gradient[0], torch.tensor([[2.0, 15, 18], [18, 15, 2]]).double() / 35)
    (gradient,) = torch.autograd.grad(found[0, 1, 0, 0], log_p)
    expected = torch.tensor([[66.0, -30, -36], [-36, -30, 66]]).double() / 35**2
    torch.testing.assert_close(gradient[0], expected)


def test_ties_give_the_smallest_fertilities_to_the_last_tokens(both: str) -> None:
    log_p = torch.zeros(7, 3, 3, dtype=torch.float64).log_softmax(-1)
    found = fertility.argmax(log_p, torch.arange(7))
    assert found.tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0], [2, 2, 1], [2, 2, 2]]


def test_a_uniform_on_the_border_belongs_to_the_next_fertility(both: str) -> None:
    log_p = torch.full((1, 2, 2), 0.5, dtype=torch.float64).log()
    uniforms = torch.full((1, 1, 2), 0.5, dtype=torch.float64)
    assert fertility.sample(log_p, None, uniforms).tolist() == [[[1, 1]]]
    assert fertility.sample(log_p, torch.tensor([1]), uniforms).tolist() == [[[0, 1]]]


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-53, 1.0])
def test_extreme_uniforms_never_draw_the_impossible(both: str, uniform: float) -> None:
    p = torch.tensor([[[0.0, 0.5, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0], [0.3, 0.0, 0.7, 0.0]]]).double()
    log_p = p.log().clamp(min=LOG_ZERO)
    uniforms = torch.full((1, 1, 3), uniform, dtype=torch.float64)
    free = fertility.sample(log_p, None, uniforms)[0]
    given_four = fertility.sample(log_p, torch.tensor([4]), uniforms)[0]
    for found in (free, given_four):
        assert float(p[0].gather(1, found[0].unsqueeze(1)).prod()) > 0
    assert given_four.tolist() == [[1, 1, 2]]


@tilts
def test_gradients_agree_with_finite_differences(both: str, tilt: float) -> None:
    log_p = torch.cat([pad_tokens(random_log_p(1, 3, 3), 1), random_log_p(2, 4, 3)])
    log_p = tilted(log_p, tilt).requires_grad_()
    lengths = torch.tensor([2, 7, 5])
    assert gradcheck(lambda x: fertility.length_log_probs(x, 9), log_p)
    assert gradcheck(lambda x: fertility.log_prob_length(x, lengths), log_p)
    assert gradcheck(lambda x: fertility.marginals(x, lengths, 7), log_p)


@tilts
def test_gradients_of_impossible_lengths_are_zero_after_a_possible_row(both: str, tilt: float) -> None:
    log_p = tilted(random_log_p(2, 3, 3), tilt)
    log_p[1, :, 1] = LOG_ZERO  # the second row reaches even lengths only
    log_p.requires_grad_()
    log_probs = fertility.length_log_probs(log_p, 6)
    assert (log_probs[1] == LOG_ZERO).tolist() == [False, True] * 3 + [False]
    (gradient,) = torch.autograd.grad(log_probs[1, 1::2].sum(), log_p)
    assert torch.equal(gradient, torch.zeros_like(gradient))


def test_gradients_of_impossible_events_are_zero(both: str) -> None:
    log_p = certain([1, 2], d=2).requires_grad_()
    log_probs = fertility.length_log_probs(log_p, 6)
    found = fertility.marginals(log_p.expand(3, -1, -1), torch.tensor([2, 4, 5]), 5)
    impossible = log_probs[log_probs == LOG_ZERO].sum() + found.sum()
    (gradient,) = torch.autograd.grad(impossible, log_p)
    assert torch.equal(gradient, torch.zeros_like(gradient))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Tensor, Tensor]:
    """log_p (B, n, d+1) with padding, zeros and peaks, and lengths in 0..n·d that need not be possible."""
    batch, n, d = draw(st.integers(1, 4)), draw(st.integers(1, 7)), draw(st.integers(1, 5))
    torch.manual_seed(draw(st.integers(0, 2**31)))
    logits = draw(st.sampled_from([0.0, 1.0, 10.0, 300.0, 1e4])) * torch.randn(batch, n, d + 1).double()
    never = torch.rand(logits.shape) < draw(st.sampled_from([0.0, 0.4]))
    never[..., draw(st.integers(0, d))] = False
    log_p = logits.masked_fill(never, -torch.inf).log_softmax(-1).clamp(min=LOG_ZERO)
    lengths = torch.tensor(draw(st.lists(st.integers(0, n * d), min_size=batch, max_size=batch)))
    log_p = tilted(log_p, draw(st.sampled_from([0.0, -200.0]))).clamp(min=LOG_ZERO)
    return pad_tokens(log_p, draw(st.integers(0, 2))), lengths


def with_gradient(log_p: Tensor, lengths: Tensor, max_length: int) -> tuple[Tensor, ...]:
    log_p = log_p.detach().requires_grad_()
    weights = torch.Generator().manual_seed(0)
    outputs = (
        fertility.length_log_probs(log_p, max_length),
        fertility.marginals(log_p, lengths, max_length),
        fertility.log_prob_length(log_p, lengths),
    )
    results = []
    for output in outputs:
        weight = torch.randn(output.shape, dtype=output.dtype, generator=weights)
        results += [output.detach(), *torch.autograd.grad(output, log_p, weight)]
    return tuple(results)


@given(problems())
def test_kernels_and_torch_agree(problem: tuple[Tensor, Tensor]) -> None:
    log_p, lengths = problem
    max_length = int(lengths.max())
    uniforms = torch.rand(2, *log_p.shape[:2], dtype=torch.float64)
    from_kernels = with_gradient(log_p, lengths, max_length)
    drawn, best = fertility.sample(log_p, lengths, uniforms), fertility.argmax(log_p, lengths)
    with implementation("torch"):
        from_torch = with_gradient(log_p, lengths, max_length)
        assert torch.equal(drawn, fertility.sample(log_p, lengths, uniforms))
        assert torch.equal(best, fertility.argmax(log_p, lengths))
    for kernel, plain in zip(from_kernels, from_torch, strict=True):
        torch.testing.assert_close(kernel, plain, rtol=1e-9, atol=1e-9)
    possible = naive.length_log_probs(log_p, max_length).gather(1, lengths.unsqueeze(1)).squeeze(1) > LOG_ZERO
    assert torch.equal(drawn.sum(-1)[:, possible], lengths[possible].expand(2, -1))
    assert torch.equal(best.sum(-1)[possible], lengths[possible])
    for draw in drawn:
        assert bool((log_p.gather(2, draw.unsqueeze(-1))[possible] > LOG_ZERO).all())
    assert int(drawn[:, ~possible].sum() + best[~possible].sum()) == 0


def test_linear_and_log_recursions_agree() -> None:
    log_p, high = random_log_p(9, 5), 30
    in_logs = torch.zeros(high + 1).double(), torch.zeros(9, 5, high + 1).double()
    linear = torch.zeros(high + 1).double(), torch.zeros(9, 5, high + 1).double()
    cpu._forward_log(log_p.numpy(), 0, high, *(part.numpy() for part in in_logs))
    cpu._forward_linear(log_p.exp().numpy(), 0, high, *(part.numpy() for part in linear))
    torch.testing.assert_close(linear, (in_logs[0].exp(), in_logs[1]))


@given(st.floats(-1200, 0), st.floats(-1200, 0))
def test_the_step_from_linear_to_log_space_does_not_show(first: float, second: float) -> None:
    """Three tokens of which two are improbable at all but 0, by factors down to where float64 ends."""
    log_p = torch.tensor([[[0.0, first, first - 1], [0.0, second, first], [-0.5, -2.0, -3.0]]]).double()
    lengths = torch.arange(1, 7)
    from_kernels = with_gradient(log_p.expand(6, -1, -1), lengths, 6)
    with implementation("torch"):
        from_torch = with_gradient(log_p.expand(6, -1, -1), lengths, 6)
    torch.testing.assert_close(from_kernels, from_torch, rtol=1e-10, atol=1e-10)


def test_threads_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    log_p, lengths = random_log_p(5, 6, 4), torch.tensor([3, 18, 0, 7, 11])
    alone = with_gradient(log_p, lengths, 18)
    before = torch.get_num_threads()
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 0)
    try:
        torch.set_num_threads(3)
        together = with_gradient(log_p, lengths, 18)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, three) for one, three in zip(alone, together, strict=True))


def test_float32_is_float64_rounded(both: str) -> None:
    log_p, lengths = random_log_p(3, 8, 5, dtype=torch.float32), torch.tensor([5, 20, 32])
    narrow = with_gradient(log_p, lengths, 32)
    wide = with_gradient(log_p.double(), lengths, 32)
    assert all(result.dtype == torch.float32 for result in narrow)
    torch.testing.assert_close(narrow[0], wide[0].float(), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(narrow[2], wide[2].float(), rtol=1e-6, atol=1e-7)
    assert torch.equal(narrow[2].sum((1, 3)).round(), (torch.arange(32) < lengths.unsqueeze(1)).float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_five_hundred_tokens(both: str, dtype: torch.dtype) -> None:
    log_p = random_log_p(2, 500, 5, dtype=dtype).requires_grad_()
    lengths = torch.tensor([500, 3])  # 3: nearly impossible, the mean is about 1000
    log_probs = fertility.length_log_probs(log_p, 500)
    found = fertility.marginals(log_p, lengths, 500)
    loss = (found * torch.randn_like(found)).sum() + fertility.log_prob_length(log_p, lengths).sum()
    loss = loss + log_probs.gather(1, lengths.unsqueeze(1)).sum()
    (gradient,) = torch.autograd.grad(loss, log_p)
    assert bool(log_probs.isfinite().all())
    assert bool(gradient.isfinite().all())
    assert float(gradient.abs().max()) > 0.1
    mass = (torch.arange(500) < lengths.unsqueeze(1)).to(dtype)
    torch.testing.assert_close(found.sum((1, 3)), mass, rtol=1e-5, atol=0)


def test_lengths_of_probability_exp_minus_ten_thousand(both: str) -> None:
    log_p = torch.tensor([[[0.0, -1e4, -3e4], [0.0, -1e4 - 1, -3e4]]], dtype=torch.float64).requires_grad_()
    log_probs = fertility.length_log_probs(log_p, 4)
    two_ways = math.log1p(math.exp(-1.0))  # two paths, one e times as likely as the other
    expected = torch.tensor([[0.0, two_ways - 1e4, -2e4 - 1, two_ways - 4e4, -6e4]], dtype=torch.float64)
    torch.testing.assert_close(log_probs.detach(), expected, rtol=1e-12, atol=1e-12)
    found = fertility.marginals(log_p, torch.tensor([1]), 1)
    share = 1 / (1 + math.exp(-1.0))
    assert found[0, :, 0, 0].tolist() == pytest.approx([share, 1 - share])
    (gradient,) = torch.autograd.grad(found[0, 0, 0, 0], log_p)
    slope = share * (1 - share)
    expected = torch.tensor([[[-slope, slope, 0], [slope, -slope, 0]]], dtype=torch.float64)
    torch.testing.assert_close(gradient, expected)


def test_certain_fertilities_give_a_certain_alignment(both: str) -> None:
    log_p = certain([2, 0, 1], d=2).requires_grad_()
    found = fertility.marginals(log_p, torch.tensor([3]), 3)
    assert torch.equal(found[0], oracle.alignment(torch.tensor([2, 0, 1]), 3, 2))
    assert fertility.length_log_probs(log_p, 6).tolist() == [[LOG_ZERO] * 3 + [0.0] + [LOG_ZERO] * 3]
    (gradient,) = torch.autograd.grad(found.square().sum(), log_p)
    assert torch.equal(gradient, torch.zeros_like(gradient))


@pytest.mark.parametrize("length", [-1, 2, 4, 5, 100])
def test_rows_of_impossible_length_are_zero(both: str, length: int) -> None:
    log_p = certain([1, 2], d=2)
    assert not fertility.marginals(log_p, torch.tensor([length]), 5).any()
    assert not fertility.argmax(log_p, torch.tensor([length])).any()
    assert not fertility.sample(log_p, torch.tensor([length]), torch.rand(1, 1, 2)).any()


def test_length_above_max_length_is_zero(both: str) -> None:
    assert not fertility.marginals(random_log_p(1, 3, 3), torch.tensor([4]), 3).any()


def test_length_zero_is_an_empty_alignment(both: str) -> None:
    log_p = random_log_p(2, 3, 3).requires_grad_()
    found = fertility.marginals(log_p, torch.tensor([0, 0]), 0)
    assert found.shape == (2, 3, 0, 2)
    assert not fertility.argmax(log_p, torch.tensor([0, 0])).any()


GOOD = torch.zeros(2, 3, 4)
ROWS = torch.tensor([1, 2])


@pytest.mark.parametrize(
    ("error", "message", "log_p", "lengths"),
    [
        (ValueError, r"log_p: expected shape \(B, n, d\+1\), found \(2, 3\)", GOOD[..., 0], ROWS),
        (TypeError, "log_p: expected a floating-point tensor, found torch.int64", GOOD.long(), ROWS),
        (ValueError, r"lengths: expected shape \(2,\), found \(1,\)", GOOD, ROWS[:1]),
        (TypeError, "lengths: expected torch.int64, found torch.int32", GOOD, ROWS.int()),
        (ValueError, "lengths: expected device cpu like log_p, found meta", GOOD, ROWS.to("meta")),
        (TypeError, "lengths: expected a tensor, found list", GOOD, [1, 2]),
    ],
    ids=["shape", "dtype", "lengths-shape", "lengths-dtype", "lengths-device", "lengths-type"],
)
def test_wrong_arguments_are_named(
    both: str, error: type[Exception], message: str, log_p: Tensor, lengths: Tensor
) -> None:
    with pytest.raises(error, match=message):
        fertility.marginals(log_p, lengths, 3)
    with pytest.raises(error, match=message):
        fertility.argmax(log_p, lengths)


def test_wrong_uniforms_are_named(both: str) -> None:
    with pytest.raises(ValueError, match=r"uniforms: expected shape \(S, 2, 3\), found \(1, 2, 4\)"):
        fertility.sample(GOOD, ROWS, torch.rand(1, 2, 4))
    with pytest.raises(TypeError, match="uniforms: expected a floating-point tensor"):
        fertility.sample(GOOD, None, torch.zeros(1, 2, 3, dtype=torch.int64))


def test_operators_keep_torchs_rules() -> None:
    log_p, lengths = random_log_p(2, 3, 4).requires_grad_(), torch.tensor([2, 5])
    plain = log_p.detach()
    uniforms = torch.rand(5, 2, 3, dtype=torch.float64)
    torch.library.opcheck(fertility._length_log_probs.known, (log_p, lengths, 5))
    torch.library.opcheck(fertility._marginals.known, (log_p, lengths, 5))
    torch.library.opcheck(fertility._length_log_probs_backward.known, (plain.new_ones(2, 6), plain, lengths))
    torch.library.opcheck(fertility._marginals_backward.known, (plain.new_ones(2, 3, 5, 3), plain, lengths))
    torch.library.opcheck(fertility._argmax.known, (plain, lengths))
    torch.library.opcheck(fertility._sample.known, (plain, lengths, uniforms))


def test_strided_input_is_read_by_its_strides(both: str) -> None:
    wide = torch.randn(3, 5, 4, dtype=torch.float64)
    strided = wide.log_softmax(-1).transpose(0, 1)
    lengths = torch.tensor([1, 2, 3, 4, 5])
    for one, other in zip(
        with_gradient(strided, lengths, 5), with_gradient(strided.contiguous(), lengths, 5), strict=True
    ):
        assert torch.equal(one, other)
