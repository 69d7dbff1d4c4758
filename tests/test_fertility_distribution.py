"""`ftor.Fertility`: from logits to lengths, alignments and fertilities, and what it refuses."""

import doctest
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import ftor.distributions
from ftor.distributions import Fertility
from ftor.ops import LOG_ZERO, implementation
from oracles import fertility as oracle


@pytest.fixture(autouse=True, params=["kernels", "torch"])
def ops(request: pytest.FixtureRequest) -> Iterator[str]:
    with nullcontext() if request.param == "kernels" else implementation("torch"):
        yield request.param


def ragged() -> tuple[Tensor, Tensor]:
    """Logits (3, 4, 4) of sentences with 4, 1 and 3 tokens."""
    return torch.randn(3, 4, 4, dtype=torch.float64), torch.tensor([4, 1, 3])


def test_lengths_and_alignments_are_those_of_the_enumeration() -> None:
    logits, source_lengths = ragged()
    lengths = torch.tensor([7, 2, 9])
    fertility = Fertility(logits, source_lengths)
    found = fertility.given(lengths).marginals
    assert fertility.length_log_probs.shape == (3, 13)
    assert found.shape == (3, 4, 9, 3)
    for b, (n, length) in enumerate(zip(source_lengths.tolist(), lengths.tolist(), strict=True)):
        p = logits[b, :n].softmax(-1)
        expected = oracle.length_probs(p)
        torch.testing.assert_close(fertility.length_log_probs[b, : len(expected)].exp(), expected)
        assert bool((fertility.length_log_probs[b, len(expected) :] == LOG_ZERO).all())
        torch.testing.assert_close(fertility.log_prob_length(lengths)[b].exp(), expected[length])
        torch.testing.assert_close(found[b, :n, :length], oracle.marginals(p, length))
        assert not found[b, n:].any()
        assert not found[b, :, length:].any()


def test_log_prob_length_and_the_table_have_the_same_gradient() -> None:
    logits, source_lengths = ragged()
    logits.requires_grad_()
    lengths = torch.tensor([7, 0, 9])
    fertility = Fertility(logits, source_lengths)
    direct = fertility.log_prob_length(lengths)
    table = fertility.length_log_probs.gather(1, lengths.unsqueeze(1)).squeeze(1)
    torch.testing.assert_close(direct, table)
    gradients = [torch.autograd.grad(value.sum(), logits, retain_graph=True)[0] for value in (direct, table)]
    torch.testing.assert_close(*gradients)
    assert not gradients[0][1, 1:].any()
    assert bool(gradients[0][0].any())


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_what_is_in_the_padding_does_not_matter(seed: int, source_lengths: list[int]) -> None:
    torch.manual_seed(seed)
    logits = torch.randn(len(source_lengths), 5, 4, dtype=torch.float64)
    for b, source_length in enumerate(source_lengths):
        logits[b, source_length:] = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e300])
    lengths = torch.tensor(source_lengths)
    fertility = Fertility(logits.requires_grad_(), torch.tensor(source_lengths))
    together = fertility.given(lengths).marginals
    (gradient,) = torch.autograd.grad(
        together.square().sum() + fertility.log_prob_length(lengths).sum(), logits
    )
    for b, source_length in enumerate(source_lengths):
        row = logits.detach()[b : b + 1, :source_length].requires_grad_()
        alone = Fertility(row)
        length = lengths[b : b + 1]
        torch.testing.assert_close(
            together[b, :source_length, :source_length], alone.given(length).marginals[0]
        )
        assert torch.equal(fertility.given(lengths).argmax[b, :source_length], alone.given(length).argmax[0])
        loss = alone.given(length).marginals.square().sum() + alone.log_prob_length(length).sum()
        (expected,) = torch.autograd.grad(loss, row)
        torch.testing.assert_close(gradient[b, :source_length], expected[0])
        assert not gradient[b, source_length:].any()


def test_the_table_keeps_its_gradient_when_first_seen_without() -> None:
    fertility = Fertility(torch.randn(1, 2, 3, requires_grad=True))
    with torch.no_grad():
        fertility.top_lengths(1)
    assert fertility.length_log_probs.requires_grad


def test_top_lengths_are_the_best_of_the_table_without_zero() -> None:
    logits, source_lengths = ragged()
    logits[..., 0] += 5  # length 0 is the most likely
    fertility = Fertility(logits, source_lengths)
    found = fertility.top_lengths(3)
    expected = fertility.length_log_probs[:, 1:].topk(3)
    assert torch.equal(found.log_probs, expected.values)
    assert torch.equal(found.lengths, expected.indices + 1)


@pytest.mark.parametrize("form", ["lengths", "mask", "mask-per-row"])
def test_top_lengths_keeps_to_what_is_allowed(form: str) -> None:
    logits, source_lengths = ragged()
    fertility = Fertility(logits, source_lengths)
    mask = torch.zeros(13, dtype=torch.bool)
    mask[[0, 2, 3, 12]] = True
    allowed = {"lengths": [0, 2, 3, 12, 99], "mask": mask, "mask-per-row": mask.expand(3, -1)}[form]
    log_probs, lengths = fertility.top_lengths(4, allowed)
    for b, reachable in enumerate([{2, 3, 12}, {2, 3}, {2, 3}]):
        possible = log_probs[b] > LOG_ZERO
        assert set(lengths[b, possible].tolist()) == reachable
        assert torch.equal(log_probs[b, possible], fertility.length_log_probs[b, lengths[b, possible]])
        assert bool((log_probs[b, ~possible] == LOG_ZERO).all())
        assert bool((lengths[b, ~possible] == lengths[b, 0]).all())
        assert bool((log_probs[b].diff() <= 0).all())


def test_top_lengths_may_ask_for_more_than_there_are() -> None:
    found = Fertility(torch.zeros(1, 1, 3)).top_lengths(5)
    assert found.lengths.tolist() == [[1, 2, 1, 1, 1]]
    assert found.log_probs[0, 2:].tolist() == pytest.approx([LOG_ZERO] * 3)


def test_top_lengths_is_differentiable() -> None:
    logits = torch.randn(2, 3, 4, requires_grad=True)
    Fertility(logits).top_lengths(2, [4, 5]).log_probs.sum().backward()
    assert bool(logits.grad.isfinite().all())
    assert bool(logits.grad.any())


def test_samples_follow_the_generator_and_the_length() -> None:
    logits, source_lengths = ragged()
    fertility = Fertility(logits, source_lengths)
    lengths = torch.tensor([11, 1, 4])
    draws = [
        fertility.given(lengths).sample(generator=torch.Generator().manual_seed(seed))
        for seed in (3, 3, 4, 5, 6)
    ]
    assert torch.equal(draws[0], draws[1])
    assert any(not torch.equal(draws[0], draw) for draw in draws[2:])
    assert all(torch.equal(draw.sum(-1), lengths) for draw in draws)
    free = fertility.sample()
    assert free.shape == (3, 4)
    assert free.dtype == torch.int64
    assert int(free[1, 1:].sum() + free[2, 3:].sum()) == 0


def test_sample_means_are_the_expected_fertilities() -> None:
    logits = torch.randn(1, 3, 4, dtype=torch.float64)
    many = Fertility(logits.expand(20_000, -1, -1))
    free = many.sample().double().mean(0)
    torch.testing.assert_close(free, (logits[0].softmax(-1) * torch.arange(4)).sum(-1), rtol=0, atol=0.03)
    lengths = torch.full((20_000,), 5)
    expected = Fertility(logits).given(lengths[:1]).marginals.sum((0, 2, 3))  # Σ_u P(f_i ≥ u) = E f_i
    torch.testing.assert_close(many.given(lengths).sample().double().mean(0), expected, rtol=0, atol=0.03)


def test_argmax_is_that_of_the_tokens_or_of_the_length() -> None:
    logits = torch.tensor([[[0.0, 3.0, 1.0], [0.0, 1.0, 2.5]]])
    fertility = Fertility(logits)
    assert fertility.argmax.tolist() == [[1, 2]]
    assert fertility.given(torch.tensor([2])).argmax.tolist() == [[1, 1]]
    assert fertility.given(torch.tensor([4])).argmax.tolist() == [[2, 2]]


def test_minus_infinity_makes_a_fertility_impossible() -> None:
    logits = torch.tensor([[[-torch.inf, 0.0, 1.0], [0.5, -torch.inf, 0.0]]], requires_grad=True)
    fertility = Fertility(logits)
    assert (fertility.length_log_probs == LOG_ZERO).tolist() == [[True, False, False, False, False]]
    found = fertility.given(torch.tensor([3])).marginals
    assert found[0, :, :, 0].tolist() == [[1, 0, 0], [0, 1, 0]]
    loss = found.square().sum() + fertility.log_prob_length(torch.tensor([2])).sum()
    (gradient,) = torch.autograd.grad(loss, logits)
    assert bool(gradient.isfinite().all())
    assert gradient[0, 0, 0] == gradient[0, 1, 1] == 0


def test_enormous_logits_stay_finite() -> None:
    logits = (1e4 * torch.randn(2, 6, 4).sign() * torch.rand(2, 6, 4)).requires_grad_()
    fertility = Fertility(logits)
    lengths = torch.tensor([18, 9])
    found, log_probs = fertility.given(lengths).marginals, fertility.log_prob_length(lengths)
    (gradient,) = torch.autograd.grad((found * torch.randn_like(found)).sum() + log_probs.sum(), logits)
    assert bool(log_probs.isfinite().all())
    assert bool((log_probs > LOG_ZERO).all())
    assert bool(gradient.isfinite().all())
    torch.testing.assert_close(found.sum((1, 3)), (torch.arange(18) < lengths.unsqueeze(1)).float())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision_is_computed_in_float32(dtype: torch.dtype) -> None:
    logits = torch.randn(2, 3, 4, dtype=dtype, requires_grad=True)
    lengths = torch.tensor([3, 6])
    found = Fertility(logits).given(lengths).marginals
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, Fertility(logits.float()).given(lengths).marginals)
    found.square().sum().backward()
    assert logits.grad.dtype == dtype


def test_one_token_and_length_zero() -> None:
    fertility = Fertility(torch.randn(2, 1, 2))
    assert fertility.given(torch.tensor([1, 0])).marginals.tolist() == [[[[1.0]]], [[[0.0]]]]
    assert fertility.given(torch.tensor([0, 0])).marginals.shape == (2, 1, 0, 1)
    assert fertility.given(torch.tensor([1, 0])).argmax.tolist() == [[1], [0]]
    assert fertility.given(torch.tensor([1, 0])).sample().tolist() == [[1], [0]]


def test_empty_batch() -> None:
    fertility, none = Fertility(torch.zeros(0, 3, 4)), torch.zeros(0, dtype=torch.int64)
    assert fertility.log_prob_length(none).shape == (0,)
    assert fertility.given(none).marginals.shape == (0, 3, 0, 3)
    assert fertility.top_lengths(2).lengths.shape == (0, 2)
    assert fertility.given(none).sample().shape == (0, 3)


LOGITS = torch.zeros(2, 3, 3)
ROWS = torch.tensor([1, 2])


@pytest.mark.parametrize(
    ("error", "message", "build"),
    [
        (TypeError, "logits: expected a tensor, found list", lambda: Fertility([[0.0]])),
        (ValueError, r"logits: expected shape \(B, n, d\+1\), found \(3, 3\)", lambda: Fertility(LOGITS[0])),
        (
            TypeError,
            "logits: expected a floating-point tensor, found torch.int64",
            lambda: Fertility(LOGITS.long()),
        ),
        (
            ValueError,
            r"logits: expected n ≥ 1 and d ≥ 1.*found \(2, 3, 1\)",
            lambda: Fertility(LOGITS[..., :1]),
        ),
        (
            ValueError,
            r"logits: expected n ≥ 1 and d ≥ 1.*found \(2, 0, 3\)",
            lambda: Fertility(LOGITS[:, :0]),
        ),
        (
            ValueError,
            r"logits: expected .* found \[nan, 0.0, 0.0\] in row 1, token 2",
            lambda: Fertility(torch.where(torch.arange(18).view(2, 3, 3) == 15, torch.nan, LOGITS)),
        ),
        (
            ValueError,
            r"logits: expected .* found \[-inf, -inf, -inf\] in row 0, token 0",
            lambda: Fertility(torch.full((1, 1, 3), -torch.inf)),
        ),
        (
            ValueError,
            r"source_lengths: expected 1 to 3 \(the n of logits\), found 0 in row 1",
            lambda: Fertility(LOGITS, torch.tensor([1, 0])),
        ),
        (
            ValueError,
            "source_lengths: expected 1 to 3.*found 4 in row 0",
            lambda: Fertility(LOGITS, ROWS + 3),
        ),
        (
            TypeError,
            "source_lengths: expected torch.int64, found torch.int32",
            lambda: Fertility(LOGITS, ROWS.int()),
        ),
        (
            ValueError,
            "source_lengths: expected device cpu like logits, found meta",
            lambda: Fertility(LOGITS, ROWS.to("meta")),
        ),
    ],
    ids=[
        "list",
        "2d",
        "integers",
        "d=0",
        "n=0",
        "nan",
        "never",
        "no-token",
        "too-many-tokens",
        "int32",
        "device",
    ],
)
def test_wrong_constructor_arguments_are_named(
    error: type[Exception], message: str, build: Callable[[], Fertility]
) -> None:
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("method", ["given", "log_prob_length"])
@pytest.mark.parametrize(
    ("error", "message", "lengths"),
    [
        (
            ValueError,
            r"lengths: expected 0 to 4 \(source_length · d\), found 5 in row 1",
            torch.tensor([6, 5]),
        ),
        (ValueError, "lengths: expected 0 to 6.*found -1 in row 0", torch.tensor([-1, 1])),
        (ValueError, r"lengths: expected shape \(2,\), found \(3,\)", torch.tensor([1, 1, 1])),
        (TypeError, "lengths: expected torch.int64, found torch.float32", torch.tensor([1.0, 1.0])),
        (ValueError, "lengths: expected device cpu like logits, found meta", ROWS.to("meta")),
        (TypeError, "lengths: expected a tensor, found list", [1, 1]),
    ],
    ids=["too-long", "negative", "shape", "float", "device", "list"],
)
def test_wrong_lengths_are_named(method: str, error: type[Exception], message: str, lengths: Tensor) -> None:
    with pytest.raises(error, match=message):
        getattr(Fertility(LOGITS, torch.tensor([3, 2])), method)(lengths)


@pytest.mark.parametrize("method", ["argmax", "sample"])
def test_fertilities_of_an_impossible_length_are_refused(method: str) -> None:
    logits = LOGITS.clone()
    logits[1, :, 1] = -torch.inf
    impossible = Fertility(logits).given(torch.tensor([3, 3]))
    with pytest.raises(ValueError, match=r"lengths: .* found 3 with probability 0 in row 1"):
        _ = impossible.argmax if method == "argmax" else impossible.sample()
    assert not Fertility(logits).given(torch.tensor([3, 3])).marginals[1].any()


def test_allowed_lengths_may_be_a_list_or_a_tensor_of_them() -> None:
    fertility = Fertility(LOGITS)
    listed, tensor = fertility.top_lengths(2, [2, 4]), fertility.top_lengths(2, torch.tensor([2, 4]))
    assert listed.lengths.sort().values.tolist() == [[2, 4], [2, 4]]
    assert torch.equal(listed.lengths, tensor.lengths)
    mask = [length in (2, 4) for length in range(7)]
    assert torch.equal(listed.lengths, fertility.top_lengths(2, mask).lengths)
    with pytest.raises(TypeError, match="allowed: expected a bool mask"):
        fertility.top_lengths(1, [5.5])


def test_wrong_choices_of_lengths_are_named() -> None:
    fertility = Fertility(LOGITS, torch.tensor([3, 1]))
    with pytest.raises(ValueError, match="k: expected an integer of at least 1, found 0"):
        fertility.top_lengths(0)
    with pytest.raises(ValueError, match=r"allowed: .* found none in row 1"):
        fertility.top_lengths(1, [0, 3, 4])
    with pytest.raises(ValueError, match=r"allowed: .* found none in row 0"):
        fertility.top_lengths(1, [])
    with pytest.raises(TypeError, match=r"allowed: expected a bool mask .*, found torch.float32"):
        fertility.top_lengths(1, torch.ones(7))
    with pytest.raises(ValueError, match=r"allowed: expected shape \(7,\), found \(6,\)"):
        fertility.top_lengths(1, torch.ones(6, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"allowed: expected shape \(2, 7\), found \(1, 7\)"):
        fertility.top_lengths(1, torch.ones(1, 7, dtype=torch.bool))
    with pytest.raises(ValueError, match="allowed: expected device cpu like logits, found meta"):
        fertility.top_lengths(1, torch.ones(7, dtype=torch.bool, device="meta"))


class Layer(torch.nn.Module):
    """The smallest module with a fertility in it."""

    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(5, 4)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        fertility = Fertility(self.project(x))
        return fertility.given(lengths).marginals, fertility.log_prob_length(lengths)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # torch.compile looks at it
def test_a_compiled_module_gives_the_same_numbers(ops: str) -> None:
    layer, x, lengths = Layer(), torch.randn(2, 3, 5), torch.tensor([4, 7])

    def run(module: Callable[..., tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
        found, log_probs = module(x, lengths)
        loss = found.square().sum() + log_probs.sum()
        return found, log_probs, *torch.autograd.grad(loss, [layer.project.weight])

    torch.testing.assert_close(run(torch.compile(layer, backend="aot_eager")), run(layer))


def test_it_shows_what_it_is() -> None:
    shown = repr(Fertility(LOGITS))
    assert shown == "Fertility(batch=2, n=3, d=2, dtype=torch.float32, device=cpu)"


@pytest.mark.parametrize("shown", [Fertility, ftor.SeparablePermutation])
def test_the_example_in_the_docstring_is_true(shown: type) -> None:
    import sys

    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(shown, globs=vars(sys.modules[shown.__module__])):
        assert runner.run(example).failed == 0
    assert runner.tries > 3
