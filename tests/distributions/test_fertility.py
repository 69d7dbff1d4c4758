"""`Fertility` and `FertilityGivenLength`: the tests of every distribution, lengths, and what they refuse."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ftor.distributions import Fertility, FertilityGivenLength
from ftor.ops import LOG_ZERO
from oracles import fertility as oracle
from support.distributions import DistributionTests, Parameters, Values

pytestmark = pytest.mark.usefixtures("both")


def ragged(n: int = 4, d: int = 3, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Logits (4, n, d+1) and source lengths.

    In the last row longer outputs are so improbable that the kernels compute with logarithms.
    """
    logits = torch.randn(4, n, d + 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    logits[3] -= 300 * torch.arange(d + 1)
    return logits.to(dtype), torch.tensor([n, 1, max(n - 1, 1), n])


class TestFertility(DistributionTests):
    names = "logits", "source_lengths"

    def batches(self, dtype: torch.dtype = torch.float64) -> list[Parameters]:
        return [ragged(n, d, dtype) for n, d in [(4, 3), (1, 1), (6, 1), (2, 2)]]

    def build(self, *parameters: Tensor, **options: bool) -> Fertility:
        return Fertility(*parameters, **options)

    def values(self, parameters: Parameters, row: int) -> Values:
        logits, source_lengths = parameters[:2]
        n, d = int(source_lengths[row]), logits.shape[2] - 1
        vectors = oracle.all_fertilities(n, d)
        features = torch.nn.functional.one_hot(vectors, d + 1).double()
        padded = torch.nn.functional.pad(vectors, (0, logits.shape[1] - n))
        return Values(padded, oracle.log_probabilities(logits[row, :n].log_softmax(-1)), features)

    def alone(self, parameters: Parameters, row: int) -> Parameters:
        logits, *lengths = parameters
        return logits[row : row + 1, : lengths[0][row]], *(each[row : row + 1] for each in lengths)

    def garbled(self, parameters: Parameters) -> Parameters:
        logits, source_lengths, *lengths = parameters
        garbage = torch.full_like(logits, torch.nan)
        garbage[..., 1:] = torch.inf
        padding = torch.arange(logits.shape[1]) >= source_lengths[:, None]
        return torch.where(padding[..., None], garbage, logits), source_lengths, *lengths

    def count(self, parameters: Parameters, row: int) -> int:
        logits, source_lengths = parameters
        return logits.shape[2] ** int(source_lengths[row])


class TestFertilityGivenLength(TestFertility):
    names = "logits", "source_lengths", "lengths"

    def batches(self, dtype: torch.dtype = torch.float64) -> list[Parameters]:
        lengths = [[7, 2, 9, 5], [1, 0, 1, 1], [3, 1, 5, 2], [2, 1, 2, 3]]
        return [
            (*parameters, torch.tensor(each))
            for parameters, each in zip(super().batches(dtype), lengths, strict=True)
        ]

    def build(
        self, *parameters: Tensor, validate_args: bool | None = None, max_length: int | None = None
    ) -> FertilityGivenLength:
        logits, source_lengths, lengths = parameters
        return Fertility(logits, source_lengths, validate_args).given(lengths, max_length)

    def values(self, parameters: Parameters, row: int) -> Values:
        logits, source_lengths, lengths = parameters
        n, d, length = int(source_lengths[row]), logits.shape[2] - 1, int(lengths[row])
        vectors, log_probs, _ = super().values(parameters, row)
        fits = vectors.sum(-1) == length
        vectors, log_probs = vectors[fits], log_probs[fits]
        features = torch.stack([oracle.alignment(vector[:n], length, d) for vector in vectors])
        return Values(vectors, log_probs - log_probs.logsumexp(0), features)

    def count(self, parameters: Parameters, row: int) -> int:
        """By inclusion and exclusion of tokens whose fertility would be greater than d."""
        logits, source_lengths, lengths = parameters
        n, d, length = int(source_lengths[row]), logits.shape[2] - 1, int(lengths[row])
        return sum(
            (-1) ** k * math.comb(n, k) * math.comb(length - k * (d + 1) + n - 1, n - 1)
            for k in range(length // (d + 1) + 1)
        )

    def static_options(self, parameters: Parameters) -> dict[str, int]:
        return {"max_length": int(parameters[2].max())}

    def test_every_position_is_some_copy(self) -> None:
        for distribution, parameters, row in self.rows():
            mass = distribution.marginals[row].sum((0, 2))
            real = torch.arange(len(mass)) < parameters[2][row]
            torch.testing.assert_close(mass, real.double())

    def test_the_greatest_length_may_be_given(self) -> None:
        *parameters, lengths = self.batches()[0]
        longer = Fertility(*parameters).given(lengths, max_length=12)
        assert longer.marginals.shape == (4, 4, 12, 3)
        assert torch.equal(longer.marginals[:, :, :9], self.build(*parameters, lengths).marginals)

    def test_lengths_that_cannot_be_read(self) -> None:
        logits, source_lengths, lengths = self.batches()[0]

        def marginals(lengths: Tensor) -> Tensor:
            return Fertility(logits, source_lengths, validate_args=False).given(lengths).marginals

        several = torch.stack([lengths, lengths - 1])
        found = torch.func.vmap(marginals)(several)
        assert found.shape == (2, 4, 4, 12, 3)
        torch.testing.assert_close(found[1, :, :, :8], marginals(several[1]))

    def test_values_of_another_sum_are_impossible(self) -> None:
        *parameters, lengths = self.small()
        other = self.build(*parameters, lengths - 1).argmax
        with pytest.raises(ValueError, match=r"value: expected fertilities 0 to 2 that add up to 2"):
            self.build(*parameters, lengths).log_prob(other)
        unchecked = self.build(*parameters, lengths, validate_args=False)
        assert unchecked.log_prob(other).tolist() == pytest.approx([LOG_ZERO] * 4)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 4), (2, 3), (3, 2), (5, 1), (4, 3), (6, 2)])
def test_lengths_are_those_of_the_enumeration(n: int, d: int) -> None:
    logits, source_lengths = ragged(n, d)
    fertility = Fertility(logits[:3], source_lengths[:3])
    table = fertility.length_log_probs
    assert table.shape == (3, n * d + 1)
    torch.testing.assert_close(table.exp().sum(-1), torch.ones(3).double())
    for row, tokens in enumerate(source_lengths[:3].tolist()):
        expected = oracle.length_probs(logits[row, :tokens].softmax(-1))
        torch.testing.assert_close(table[row, : len(expected)].exp(), expected)
        assert bool((table[row, len(expected) :] == LOG_ZERO).all())
    lengths = (source_lengths[:3] * d + 1) // 2
    expected = table.gather(1, lengths[:, None]).squeeze(1)
    torch.testing.assert_close(fertility.log_prob_length(lengths), expected)


def test_log_prob_length_and_the_table_have_the_same_gradient() -> None:
    logits, source_lengths = ragged()
    logits.requires_grad_()
    lengths = torch.tensor([7, 0, 9, 2])
    fertility = Fertility(logits, source_lengths)
    direct = fertility.log_prob_length(lengths)
    table = fertility.length_log_probs.gather(1, lengths.unsqueeze(1)).squeeze(1)
    torch.testing.assert_close(direct, table)
    gradients = [torch.autograd.grad(value.sum(), logits, retain_graph=True)[0] for value in (direct, table)]
    torch.testing.assert_close(*gradients)
    assert not gradients[0][1, 1:].any()
    assert bool(gradients[0][0].any())


def test_the_table_keeps_its_gradient_when_first_seen_without() -> None:
    fertility = Fertility(torch.randn(1, 2, 3, requires_grad=True))
    with torch.no_grad():
        fertility.top_lengths(1)
    assert fertility.length_log_probs.requires_grad


def test_top_lengths_are_the_best_of_the_table_without_zero() -> None:
    logits, source_lengths = (tensor[:3] for tensor in ragged())
    logits[..., 0] += 5  # length 0 is the most likely
    fertility = Fertility(logits, source_lengths)
    found = fertility.top_lengths(3)
    expected = fertility.length_log_probs[:, 1:].topk(3)
    assert torch.equal(found.log_probs, expected.values)
    assert torch.equal(found.lengths, expected.indices + 1)


@pytest.mark.parametrize("form", ["lengths", "mask", "mask-per-row"])
def test_top_lengths_keeps_to_what_is_allowed(form: str) -> None:
    logits, source_lengths = (tensor[:3] for tensor in ragged())
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


def test_it_shows_what_it_is() -> None:
    shown = repr(Fertility(LOGITS))
    assert shown == "Fertility(batch=2, n=3, d=2, dtype=torch.float32, device=cpu)"
