"""The fused span scorer: both implementations against the formula, and its dropout against statistics."""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close

from ftor.ops import implementation, threads
from ftor.ops import span_scores as fused
from ftor.ops.span_scores import naive
from oracles import permutation as oracle

BOTH = pytest.mark.parametrize(
    "span_scores", [fused.span_scores, naive.span_scores], ids=["kernels", "torch"]
)
DROPOUT = pytest.mark.parametrize("dropout", [0.0, 0.3], ids=["no dropout", "dropout"])
NAMES = ("start", "split", "end", "weight", "bias")


class Inputs(NamedTuple):
    start: Tensor
    split: Tensor
    end: Tensor
    weight: Tensor
    bias: Tensor
    lengths: Tensor

    @property
    def tensors(self):
        return self[:5]


def inputs(lengths, length, hidden, *, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    batch = len(lengths)
    shapes = [(batch, length + 1, hidden)] * 3 + [(2, hidden), (2,)]
    tensors = [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]
    return Inputs(*tensors, torch.tensor(lengths))


def formula(given_inputs):
    """weight·relu(start_i + split_j + end_k) + bias, and 0 beyond a row's length: (B, S, 2)."""
    start, split, end, weight, bias, lengths = given_inputs
    i, j, k = torch.tensor(oracle.splits(start.shape[1] - 1), dtype=torch.int64).reshape(-1, 3).unbind(1)
    hidden = torch.relu(start[:, i] + split[:, j] + end[:, k])
    return (hidden @ weight.T + bias) * (k <= lengths[:, None])[..., None]


def gradients(function, given_inputs, **options):
    tensors = [x.detach().clone().requires_grad_() for x in given_inputs.tensors]
    scores = function(*tensors, given_inputs.lengths, **options)
    generator = torch.Generator().manual_seed(99)
    weights = torch.randn(scores.shape, generator=generator, dtype=torch.float64).to(scores.dtype)
    # One position has no split: whether its gradients are zeros or missing is all the same to an optimiser.
    return torch.autograd.grad((scores * weights).sum(), tensors, materialize_grads=True)


def dropout_mask(span_scores, *, batch=1, length=12, hidden=40, dropout=0.25, seed=0):
    """Which hidden units survive, (B, S, H): all are 1 and are read back as the bits of the two scores."""
    half = hidden // 2
    start = torch.ones(batch, length + 1, hidden, dtype=torch.float64)
    zero = torch.zeros_like(start)
    weight = torch.zeros(2, hidden, dtype=torch.float64)
    weight[0, :half] = weight[1, half:] = 2.0 ** torch.arange(half)
    lengths = torch.full((batch,), length)
    bias = torch.zeros(2, dtype=torch.float64)
    scores = span_scores(start, zero, zero, weight, bias, lengths, dropout=dropout, seed=seed)
    sums = (scores * (1 - dropout)).round().long()
    return ((sums[..., None] >> torch.arange(half)) & 1).flatten(2)


def largest_correlation(columns):
    """The largest absolute correlation between different columns of samples (N, columns), in deviations."""
    correlation = np.corrcoef(columns.double().numpy().T)
    np.fill_diagonal(correlation, 0.0)
    return float(np.abs(correlation).max() * math.sqrt(len(columns)))


@BOTH
class TestValues:
    @pytest.mark.parametrize("hidden", [1, 3, 8, 13, 64, 801])
    def test_formula(self, span_scores, hidden):
        example = inputs([6, 2, 1, 5], 6, hidden)
        assert_close(span_scores(*example), formula(example), rtol=1e-10, atol=1e-11)

    @pytest.mark.parametrize("hidden", [1, 13, 801])
    def test_formula_in_single_precision(self, span_scores, hidden):
        example = inputs([9, 4], 9, hidden)
        found = span_scores(*(x.float() for x in example.tensors), example.lengths)
        assert found.dtype == torch.float32
        assert_close(found, formula(example).float(), rtol=1e-4, atol=1e-4)

    def test_beyond_the_length_is_zero(self, span_scores):
        scores = span_scores(*inputs([5, 2], 5, 7))
        beyond = torch.tensor([k > 2 for _, _, k in oracle.splits(5)])
        assert not scores[1, beyond].any()
        assert scores[0].all()

    def test_one_position(self, span_scores):
        example = inputs([1, 1], 1, 5)
        assert span_scores(*example).shape == (2, 0, 2)
        assert all(not x.any() for x in gradients(span_scores, example))

    def test_empty_batch(self, span_scores):
        assert span_scores(*inputs([], 4, 5)[:5], torch.zeros(0, dtype=torch.int64)).shape == (0, 10, 2)

    @DROPOUT
    def test_garbage_beyond_the_length_changes_nothing(self, span_scores, dropout):
        clean = inputs([6, 3, 1], 6, 11)
        padding = (torch.arange(7) > clean.lengths[:, None])[..., None]
        dirty = Inputs(*(x.masked_fill(padding, math.nan) for x in clean[:3]), *clean[3:])
        options = {"dropout": dropout, "seed": 4}
        assert torch.equal(span_scores(*dirty, **options), span_scores(*clean, **options))
        found, expected = gradients(span_scores, dirty, **options), gradients(span_scores, clean, **options)
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours, theirs)
        assert all(not x[padding.expand_as(x)].any() for x in found[:3])

    def test_posts_that_bound_no_split_may_hold_anything(self, span_scores):
        clean = inputs([5, 4], 5, 9)
        dirty = Inputs(*(x.clone() for x in clean[:3]), *clean[3:])
        for row, length in enumerate(clean.lengths.tolist()):
            dirty.start[row, length - 1 :] = math.nan
            dirty.end[row, :2] = math.nan
            dirty.split[row, 0] = dirty.split[row, length] = math.nan
        for ours, theirs in zip(gradients(span_scores, dirty), gradients(span_scores, clean), strict=True):
            assert torch.equal(ours, theirs)

    @DROPOUT
    def test_padded_equals_unpadded(self, span_scores, dropout):
        padded = inputs([4, 4], 7, 9)
        unpadded = Inputs(*(x[:, :5] for x in padded[:3]), *padded[3:])
        large = span_scores(*padded, dropout=dropout, seed=8)
        small = span_scores(*unpadded, dropout=dropout, seed=8)
        within = [index for index, (_, _, k) in enumerate(oracle.splits(7)) if k <= 4]
        exact = span_scores is fused.span_scores  # torch's matrix product may round by its shape
        torch.testing.assert_close(large[:, within], small, rtol=0, atol=0 if exact else 1e-12)

    def test_batch_of_one_equals_its_row_in_a_batch_of_many(self, span_scores):
        many = inputs([5, 6, 2], 6, 21, dtype=torch.float32)
        scores = span_scores(*many)
        # A matrix product of torch's may round differently when it has other rows; a kernel may not.
        allowed = 1e-5 if span_scores is naive.span_scores else 0.0
        for row in range(3):
            own = slice(row, row + 1)
            one = span_scores(*(x[own] for x in many[:3]), many.weight, many.bias, many.lengths[own])
            assert_close(one[0], scores[row], rtol=allowed, atol=allowed)


@BOTH
@DROPOUT
class TestGradients:
    def test_gradcheck(self, span_scores, dropout):
        example = inputs([4, 2, 1], 4, 5)
        tensors = tuple(x.requires_grad_() for x in example.tensors)
        assert gradcheck(lambda *x: span_scores(*x, example.lengths, dropout=dropout, seed=3), tensors)

    @pytest.mark.parametrize("name", NAMES)
    def test_gradient_of_one_tensor_alone(self, span_scores, dropout, name):
        example = inputs([4, 3], 4, 9)
        expected = gradients(span_scores, example, dropout=dropout, seed=1)[NAMES.index(name)]
        tensors = dict(zip(NAMES, (x.clone() for x in example.tensors), strict=True))
        tensors[name].requires_grad_()
        scores = span_scores(**tensors, lengths=example.lengths, dropout=dropout, seed=1)
        weights = torch.randn(scores.shape, generator=torch.Generator().manual_seed(99), dtype=torch.float64)
        (found,) = torch.autograd.grad((scores * weights).sum(), tensors[name])
        assert_close(found, expected)


@DROPOUT
def test_torch_is_twice_differentiable(dropout):
    example = inputs([3, 2], 3, 4)
    tensors = tuple(x.requires_grad_() for x in example.tensors)
    assert gradgradcheck(lambda *x: naive.span_scores(*x, example.lengths, dropout=dropout, seed=3), tensors)


@st.composite
def ragged_inputs(draw):
    length = draw(st.integers(1, 9), label="L")
    lengths = draw(st.lists(st.integers(1, length), min_size=1, max_size=5), label="lengths")
    hidden = draw(st.integers(1, 67), label="H")
    dtype = draw(st.sampled_from([torch.float32, torch.float64]), label="dtype")
    seed = draw(st.integers(0, 10_000), label="seed")
    options = {"dropout": draw(st.sampled_from([0.0, 0.1, 0.5]), label="dropout"), "seed": seed}
    return inputs(lengths, length, hidden, dtype=dtype, seed=seed), options


class TestKernelsAgainstTorch:
    @staticmethod
    def tolerance(dtype):
        return {"rtol": 1e-10, "atol": 1e-10} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 2e-4}

    @given(ragged_inputs())
    def test_values(self, example):
        given_inputs, options = example
        ours = fused.span_scores(*given_inputs, **options)
        theirs = naive.span_scores(*given_inputs, **options)
        assert_close(ours, theirs, **self.tolerance(given_inputs.start.dtype))

    @given(ragged_inputs())
    def test_gradients(self, example):
        given_inputs, options = example
        ours = gradients(fused.span_scores, given_inputs, **options)
        theirs = gradients(naive.span_scores, given_inputs, **options)
        for name, found, expected in zip(NAMES, ours, theirs, strict=True):
            assert_close(
                found, expected, **self.tolerance(found.dtype), msg=lambda text, name=name: f"{name}: {text}"
            )

    def test_long_and_wide(self):
        example = inputs([30, 11], 30, 203, dtype=torch.float32)
        assert_close(fused.span_scores(*example), naive.span_scores(*example), rtol=1e-4, atol=1e-4)
        ours = gradients(fused.span_scores, example)
        theirs = gradients(naive.span_scores, Inputs(*(x.double() for x in example.tensors), example.lengths))
        for found, expected in zip(ours, theirs, strict=True):
            scale = expected.abs().max()
            assert_close(found.double() / scale, expected / scale, rtol=1e-4, atol=1e-5)


class TestDropout:
    def test_both_implementations_drop_the_same_units(self):
        ours, theirs = (dropout_mask(f, batch=3, seed=5) for f in (fused.span_scores, naive.span_scores))
        assert torch.equal(ours, theirs)

    @BOTH
    def test_the_seed_decides(self, span_scores):
        first, again = dropout_mask(span_scores, seed=1), dropout_mask(span_scores, seed=1)
        assert torch.equal(first, again)
        assert not torch.equal(first, dropout_mask(span_scores, seed=2))

    @BOTH
    @pytest.mark.parametrize("seed", [0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**63, 2**64 - 1])
    def test_any_seed_will_do(self, span_scores, seed):
        assert 0.6 < dropout_mask(span_scores, seed=seed).double().mean() < 0.9

    def test_a_tiny_rate_drops_next_to_nothing(self):
        assert dropout_mask(fused.span_scores, dropout=1e-11).all()

    @BOTH
    def test_the_global_generator_is_left_alone(self, span_scores):
        torch.manual_seed(0)
        dropout_mask(span_scores, seed=1)
        drawn = torch.rand(1)
        torch.manual_seed(0)
        assert torch.equal(drawn, torch.rand(1))

    def test_splits_that_share_their_ends_are_independent_in_fours(self):
        length, rate = 10, 0.3
        dropped = 1 - dropout_mask(fused.span_scores, batch=16, length=length, dropout=rate, seed=3)
        at = {split: index for index, split in enumerate(oracle.splits(length))}
        three = four = 0
        for j in range(2, length - 1):
            for i, other_i in itertools.combinations(range(j), 2):
                for k, other_k in itertools.combinations(range(j + 1, length + 1), 2):
                    corners = itertools.product((i, other_i), (j,), (k, other_k))
                    a, b, c, d = (dropped[:, at[corner]] for corner in corners)
                    three += int((a * b * c).sum())
                    four += int((a * b * c * d).sum())
        assert abs(four / three - rate) < 0.02

    @BOTH
    @pytest.mark.parametrize("dropout", [0.1, 0.5, 0.9])
    def test_kept_fraction(self, span_scores, dropout):
        mask = dropout_mask(span_scores, batch=4, dropout=dropout, seed=11).double()
        deviation = math.sqrt(dropout * (1 - dropout) / mask.numel())
        assert abs(float(mask.mean()) - (1 - dropout)) < 5 * deviation

    @BOTH
    def test_zero_dropout_drops_nothing_for_any_seed(self, span_scores):
        example = inputs([5, 4], 5, 9)
        assert torch.equal(span_scores(*example, dropout=0.0, seed=1), span_scores(*example, seed=2))

    @BOTH
    def test_mean_over_seeds_is_the_score_without_dropout(self, span_scores):
        one = inputs([4], 4, 8)
        rows = Inputs(*(x.expand(60, -1, -1) for x in one[:3]), one.weight, one.bias, one.lengths.expand(60))
        draws = torch.cat([span_scores(*rows, dropout=0.4, seed=seed) for seed in range(60)])
        deviation = draws.std(0) / math.sqrt(len(draws))
        assert ((draws.mean(0) - span_scores(*one)[0]).abs() < 5 * deviation).all()

    @pytest.mark.parametrize("dropout", [-0.1, 1.0, 1.5])
    def test_impossible_rates_are_refused(self, dropout):
        with pytest.raises(ValueError, match=rf"dropout.*{dropout}"):
            fused.span_scores(*inputs([4], 4, 8), dropout=dropout)

    def test_hidden_units_are_independent(self):
        mask = dropout_mask(fused.span_scores, batch=8, length=20, seed=21)
        assert largest_correlation(mask.flatten(0, 1)) < 5.5

    def test_splits_are_independent(self):
        mask = dropout_mask(fused.span_scores, batch=64, length=6, seed=22)  # 2560 samples of 35 splits
        assert largest_correlation(mask.permute(0, 2, 1).flatten(0, 1)) < 5.5

    def test_rows_of_a_batch_are_independent(self):
        mask = dropout_mask(fused.span_scores, batch=24, length=10, seed=23)
        assert largest_correlation(mask.flatten(1).T) < 5.5

    def test_neighbouring_seeds_are_independent(self):
        masks = [dropout_mask(fused.span_scores, seed=seed).flatten() for seed in range(24)]
        assert largest_correlation(torch.stack(masks, dim=1)) < 5.5


class Differences(NamedTuple):
    left: Tensor
    right: Tensor
    shift: Tensor
    weight: Tensor
    bias: Tensor
    lengths: Tensor

    @property
    def tensors(self):
        return self[:5]


def differences(lengths, length, hidden, *, dtype=torch.float64, seed=0):
    left, right, shift, weight, bias, lengths = inputs(lengths, length, hidden, dtype=dtype, seed=seed)
    return Differences(left, right, shift[0, 0] if len(lengths) else shift.sum((0, 1)), weight, bias, lengths)


def as_sums(left, right, shift, *others):
    """The arguments of `span_scores` that mean the same."""
    return -left, shift + left - right, right, *others


@pytest.mark.usefixtures("both")
class TestDifferences:
    """`difference_scores`: hidden units from differences of fence posts."""

    @pytest.mark.parametrize("hidden", [1, 8, 13, 801])
    def test_formula(self, hidden):
        example = differences([6, 2, 1, 5], 6, hidden)
        expected = formula(Inputs(*as_sums(*example)))
        assert_close(fused.difference_scores(*example), expected, rtol=1e-10, atol=1e-10)

    @DROPOUT
    def test_gradcheck(self, dropout):
        example = differences([4, 2, 1], 4, 5)
        tensors = tuple(x.clone().requires_grad_() for x in example.tensors)
        assert gradcheck(
            lambda *x: fused.difference_scores(*x, example.lengths, dropout=dropout, seed=3), tensors
        )

    @DROPOUT
    def test_scores_and_gradients_are_those_of_the_sums(self, dropout):
        example = differences([7, 3, 1, 6], 7, 21)
        options = {"dropout": dropout, "seed": 5}

        def by_sums(*x, **options):
            return naive.span_scores(*as_sums(*x), **options)

        assert_close(fused.difference_scores(*example, **options), by_sums(*example, **options))
        ours, theirs = (gradients(f, example, **options) for f in (fused.difference_scores, by_sums))
        for found, expected in zip(ours, theirs, strict=True):
            assert_close(found, expected, rtol=1e-9, atol=1e-10)

    @DROPOUT
    def test_garbage_beyond_the_length_changes_nothing(self, dropout):
        clean = differences([6, 3, 1], 6, 11)
        padding = (torch.arange(7) > clean.lengths[:, None])[..., None]
        dirty = Differences(*(x.masked_fill(padding, math.nan) for x in clean[:2]), *clean[2:])
        options = {"dropout": dropout, "seed": 4}
        assert torch.equal(
            fused.difference_scores(*dirty, **options), fused.difference_scores(*clean, **options)
        )
        found, expected = (gradients(fused.difference_scores, x, **options) for x in (dirty, clean))
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours, theirs)
        assert all(not x[padding.expand_as(x)].any() for x in found[:2])

    def test_one_position(self):
        example = differences([1, 1], 1, 5)
        assert fused.difference_scores(*example).shape == (2, 0, 2)
        assert all(not x.any() for x in gradients(fused.difference_scores, example))

    def test_a_wrong_shift_is_named(self):
        example = differences([4, 3], 4, 8)
        with pytest.raises(ValueError, match=r"shift.*\(8,\).*\(7,?\)"):
            fused.difference_scores(*example._replace(shift=example.shift[:-1]))


@given(ragged_inputs())
def test_kernels_agree_with_torch_on_differences(example):
    (left, right, shift, weight, bias, lengths), options = example
    given_differences = Differences(left, right, shift[0, 0], weight, bias, lengths)
    results = []
    for name in ("auto", "torch"):
        with implementation(name):
            scores = fused.difference_scores(*given_differences, **options)
            results.append([scores, *gradients(fused.difference_scores, given_differences, **options)])
    for found, expected in zip(*results, strict=True):
        assert_close(found, expected, **TestKernelsAgainstTorch.tolerance(left.dtype))


def operator_examples():
    """Arguments for every operator that the kernels are registered as, with and without differences."""
    start, split, end, weight, bias, lengths = inputs([4, 2, 1], 4, 5)
    grad = torch.ones(3, 10, 2, dtype=torch.float64)
    shift = split[0, 0].clone()
    free = [x.clone().requires_grad_() for x in (start, split, end, shift, weight, bias)]
    backward = "span_scores_backward"
    return {
        "sums": ("span_scores", (*free[:3], None, *free[4:], lengths, 0.2, 1)),
        "differences": ("span_scores", (free[0], None, *free[2:], lengths, 0.2, 1)),
        "backward of sums": (backward, (grad, start, split, end, None, weight, lengths, 0.2, 1)),
        "backward of differences": (backward, (grad, start, None, end, shift, weight, lengths, 0.2, 1)),
    }


class TestOperators:
    """The kernels as torch sees them: schemas, shapes without data, registered derivatives."""

    @pytest.mark.parametrize("example", operator_examples())
    def test_opcheck(self, example):
        name, arguments = operator_examples()[example]
        torch.library.opcheck(getattr(torch.ops.ftor, name).default, arguments)

    def test_no_operator_is_forgotten(self):
        registered = {name.removeprefix("ftor::") for name in torch._C._dispatch_get_all_op_names()}
        checked = {name for name, _ in operator_examples().values()}
        assert {name for name in registered if name.startswith("span_scores")} == checked

    def test_a_second_derivative_is_refused_with_advice(self):
        example = inputs([4], 4, 5)
        weight = example.weight.requires_grad_()
        scores = fused.span_scores(*example)
        (first,) = torch.autograd.grad(scores.square().sum(), weight, create_graph=True)
        with pytest.raises(RuntimeError, match=r"implementation\('torch'\)"):
            first.square().sum().backward()


class TestCalls:
    """Ways of calling that must not matter."""

    def test_layout_does_not_matter(self):
        example = inputs([5, 3], 5, 9)
        scattered = Inputs(*(x.mT.contiguous().mT for x in example[:4]), *example[4:])
        assert torch.equal(fused.span_scores(*scattered), fused.span_scores(*example))
        for ours, theirs in zip(
            gradients(fused.span_scores, scattered), gradients(fused.span_scores, example), strict=True
        ):
            assert torch.equal(ours, theirs)

    def test_slices_of_one_projection_will_do(self):
        example = inputs([5, 3], 5, 9)
        joint = torch.cat(example[:3], dim=-1).requires_grad_()
        scores = fused.span_scores(*joint.chunk(3, dim=-1), *example[3:])
        assert torch.equal(scores, fused.span_scores(*example))
        scores.sum().backward()
        assert joint.grad.isfinite().all()

    def test_number_of_threads_does_not_matter(self, monkeypatch):
        monkeypatch.setattr(threads, "WORTH_A_THREAD", 0)
        example = inputs([9, 2, 8, 1, 5] * 4, 9, 17, dtype=torch.float32)
        options = {"dropout": 0.1, "seed": 3}
        before = torch.get_num_threads()
        results = []
        try:
            for number in (1, 3):
                torch.set_num_threads(number)
                scores = fused.span_scores(*example, **options)
                results.append([scores, *gradients(fused.span_scores, example, **options)])
        finally:
            torch.set_num_threads(before)
        for alone, together in zip(*results, strict=True):
            assert torch.equal(alone, together)

    def test_gradients_are_the_same_every_time(self):
        example = inputs([9, 2, 8, 1, 5], 9, 17, dtype=torch.float32)
        first, again = gradients(fused.span_scores, example), gradients(fused.span_scores, example)
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(first, again, strict=True))


def changed(name, change):
    example = inputs([4, 3], 4, 8)
    return example._replace(**{name: change(getattr(example, name))})


ERRORS = {
    "split of another length": ("split", lambda x: x[:, :-1], r"split.*\(2, 5, 8\).*\(2, 4, 8\)"),
    "end of another width": ("end", lambda x: x[..., :-1], r"end.*8.*7"),
    "weight of another width": ("weight", lambda x: x[:, :-1], r"weight.*\(2, 8\).*\(2, 7\)"),
    "three biases": ("bias", lambda x: torch.cat([x, x[:1]]), r"bias.*\(2,\).*\(3,?\)"),
    "split of float32": ("split", lambda x: x.float(), r"split.*float64.*float32"),
    "bias elsewhere": ("bias", lambda x: x.to("meta"), r"bias.*cpu.*meta"),
    "lengths of another batch": ("lengths", lambda x: x[:1], r"lengths.*2.*1"),
    "lengths of int32": ("lengths", lambda x: x.int(), r"lengths.*int64.*int32"),
    "length 0": ("lengths", lambda x: x - 3, r"lengths.*1 to 4.*0 in row 1"),
    "length beyond L": ("lengths", lambda x: x + 1, r"lengths.*1 to 4.*5 in row 0"),
}


@pytest.mark.parametrize(("name", "change", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_wrong_arguments_are_named(name, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fused.span_scores(*changed(name, change))
