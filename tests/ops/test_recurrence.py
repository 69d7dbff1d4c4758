"""The highway LSTM: both implementations against a loop over single numbers, and against each other."""

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

from ftor.ops import implementation, recurrence, threads
from ftor.ops.recurrence import naive
from oracles import recurrence as oracle

BOTH = pytest.mark.parametrize(
    "highway_lstm", [recurrence.highway_lstm, naive.highway_lstm], ids=["kernels", "torch"]
)
KEEP = pytest.mark.parametrize("dropped", [False, True], ids=["all kept", "dropout"])
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
NAMES = ("projected", "weight", "bias", "keep")


class Inputs(NamedTuple):
    projected: Tensor
    weight: Tensor
    bias: Tensor
    lengths: Tensor
    keep: Tensor | None

    @property
    def tensors(self):
        return [x for x in (self.projected, self.weight, self.bias, self.keep) if x is not None]

    def with_tensors(self, projected, weight, bias, keep=None):
        return Inputs(projected, weight, bias, self.lengths, keep)


def inputs(lengths, K=2, H=5, *, n=None, dropped=True, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def randn(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    B, n = len(lengths), n or max(lengths)
    keep = (torch.rand(B, K, H, generator=generator) < 0.7) / 0.7 if dropped else None
    weight = randn(K, 5 * H, H) / math.sqrt(H)
    tensors = [randn(B, n, K, 6 * H), weight, randn(K, 5 * H)]
    projected, weight, bias = (x.to(dtype) for x in tensors)
    return Inputs(projected, weight, bias, torch.tensor(lengths), None if keep is None else keep.to(dtype))


def ragged(B, n, seed=0):
    """Lengths between 1 and n, one of them n."""
    lengths = np.random.default_rng(seed).integers(1, n + 1, B)
    lengths[B // 2] = n
    return lengths.tolist()


def gradients(function, example):
    """The output, and the gradients of a random sum of it."""
    tensors = [x.detach().clone().requires_grad_() for x in example.tensors]
    states = function(*example.with_tensors(*tensors))
    generator = torch.Generator().manual_seed(99)
    weights = torch.randn(states.shape, generator=generator, dtype=torch.float64).to(states.dtype)
    return [states.detach(), *torch.autograd.grad((states * weights).sum(), tensors)]


def assert_agree(found, expected, tolerance):
    """Agreement of every number, in units of the largest of its tensor."""
    for name, ours, theirs in zip(("states", *NAMES), found, expected, strict=False):
        assert ours.dtype == theirs.dtype
        scale = float(theirs.abs().max()) or 1.0
        difference = float((ours - theirs).abs().max()) / scale
        assert difference < tolerance, f"{name}: {difference:.1e} of the largest"


@BOTH
class TestValues:
    @KEEP
    @pytest.mark.parametrize("H", [1, 3, 8, 13])
    def test_oracle(self, highway_lstm, H, dropped):
        example = inputs([5, 1, 3, 4], 3, H, dropped=dropped)
        assert_close(highway_lstm(*example), oracle.highway_lstm(*example), rtol=1e-10, atol=1e-12)

    def test_directions_alternate(self, highway_lstm):
        """One direction of a sequence is the other one of the sequence reversed."""
        example = inputs([6, 6], 1, 9)
        both = Inputs(*(x.repeat_interleave(2, dim) for x, dim in zip(example[:3], (2, 0, 0), strict=True)),
                      example.lengths, example.keep.repeat_interleave(2, 1))  # fmt: skip
        states = highway_lstm(*both)
        reversed_states = highway_lstm(*both._replace(projected=both.projected.flip(1)))
        assert_close(states[:, :, 0], reversed_states.flip(1)[:, :, 1])
        assert not torch.allclose(states[:, :, 0], states[:, :, 1])

    def test_padding_is_zero(self, highway_lstm):
        states = highway_lstm(*inputs([5, 2, 1], 2, 9, n=7))
        for row, length in enumerate([5, 2, 1]):
            assert not states[row, length:].any()
            assert states[row, :length].all()

    @KEEP
    def test_garbage_in_the_padding_changes_nothing(self, highway_lstm, dropped):
        clean = inputs([6, 3, 1], 4, 11, dropped=dropped)
        padding = (torch.arange(6) >= clean.lengths[:, None])[..., None, None]
        dirty = clean._replace(projected=clean.projected.masked_fill(padding, math.nan))
        found, expected = gradients(highway_lstm, dirty), gradients(highway_lstm, clean)
        assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))
        assert not found[1][padding.expand_as(found[1])].any()

    @pytest.mark.parametrize("H", [5, 24])
    def test_a_row_does_not_depend_on_its_batch(self, highway_lstm, H):
        lengths = ragged(21, 6)
        many = inputs(lengths, 2, H, dtype=torch.float32)
        together = gradients(highway_lstm, many)
        exact = highway_lstm is recurrence.highway_lstm  # torch's product may round by its shape
        for row, length in enumerate(lengths):
            own = slice(row, row + 1)
            one = many._replace(
                projected=many.projected[own, :length], lengths=many.lengths[own], keep=many.keep[own]
            )
            states = highway_lstm(*one)
            assert_close(
                states, together[0][own, :length], rtol=0 if exact else 1e-5, atol=0 if exact else 1e-5
            )

    def test_nan_stays_in_its_row_and_direction(self, highway_lstm):
        example = inputs([4, 4, 4], 2, 9)
        example.projected[1, 2, 0, 0] = math.nan
        states = highway_lstm(*example)
        assert states[1, 2:, 0].isnan().any(-1).all()
        assert states[1, :2, 0].isfinite().all()
        assert states[1, :, 1].isfinite().all()
        assert states[[0, 2]].isfinite().all()

    @DTYPES
    def test_extreme_inputs(self, highway_lstm, dtype):
        example = inputs([6, 4], 2, 9, dtype=dtype)
        signs = torch.randn(example.projected.shape, generator=torch.Generator().manual_seed(1)).sign()
        example = example._replace(projected=1e4 * signs.to(dtype))
        found = gradients(highway_lstm, example)
        assert all(x.isfinite().all() for x in found)
        expected = oracle.highway_lstm(*example)
        assert_close(found[0].double(), expected, rtol=1e-5, atol=1e-5)

    def test_closed_highway_is_a_plain_lstm(self, highway_lstm):
        H, n = 10, 5
        example = inputs([n, n], 2, H, dropped=False)
        example.bias[:, 4 * H :] = 1e3  # r = 1
        lstm = torch.nn.LSTM(4 * H, H, bidirectional=True, batch_first=True, bias=False).double()
        with torch.no_grad():
            for k, end in enumerate(("", "_reverse")):
                getattr(lstm, f"weight_hh_l0{end}").copy_(example.weight[k, : 4 * H])
                getattr(lstm, f"weight_ih_l0{end}").copy_(torch.eye(4 * H))
        inner = example.projected + torch.cat([example.bias, torch.zeros(2, H)], 1)
        for k in range(2):
            expected = lstm(inner[:, :, k, : 4 * H])[0].unflatten(-1, (2, H))[:, :, k]
            assert_close(highway_lstm(*example)[:, :, k], expected)

    def test_empty_batch(self, highway_lstm):
        example = inputs([3], 2, 9)
        lengths = torch.zeros(0, dtype=torch.int64)
        assert highway_lstm(example.projected[:0], example.weight, example.bias, lengths).shape == (
            0,
            3,
            2,
            9,
        )

    def test_strided_inputs_are_read_by_their_strides(self, highway_lstm):
        plain = inputs([4, 2, 3], 2, 9)
        strided = Inputs(
            plain.projected.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
            plain.weight.mT.contiguous().mT,
            plain.bias.T.contiguous().T,
            torch.stack([plain.lengths] * 2, 1)[:, 0],
            plain.keep.transpose(0, 2).contiguous().transpose(0, 2),
        )
        assert_agree(
            [highway_lstm(*strided), *torch_gradients(highway_lstm, strided)],
            [highway_lstm(*plain), *torch_gradients(highway_lstm, plain)],
            1e-12,
        )


def torch_gradients(function, example):
    """Gradients of a sum whose own gradient has no memory of its own, without cloning the inputs."""
    tensors = [x.detach().requires_grad_() for x in example.tensors]
    return torch.autograd.grad(function(*example.with_tensors(*tensors)).sum(), tensors)


@BOTH
@KEEP
@pytest.mark.parametrize("H", [2, 9])
def test_gradcheck(highway_lstm, H, dropped):
    example = inputs([3, 1, 2], 2, H, dropped=dropped)
    tensors = tuple(x.requires_grad_() for x in example.tensors)
    assert gradcheck(lambda *x: highway_lstm(*example.with_tensors(*x)), tensors, fast_mode=True)


@BOTH
@pytest.mark.parametrize("name", NAMES)
def test_gradient_of_one_tensor_alone(highway_lstm, name):
    example = inputs([4, 3], 2, 9)
    expected = torch_gradients(highway_lstm, example)[NAMES.index(name)]
    alone = getattr(example, name).clone().requires_grad_()
    (found,) = torch.autograd.grad(highway_lstm(*example._replace(**{name: alone})).sum(), alone)
    assert_close(found, expected)


def test_torch_is_twice_differentiable():
    example = inputs([3, 2], 2, 2)
    tensors = tuple(x.requires_grad_() for x in example.tensors)
    function = lambda *x: naive.highway_lstm(*example.with_tensors(*x))  # noqa: E731
    assert gradgradcheck(function, tensors, fast_mode=True)


def test_kernels_refuse_a_second_derivative():
    example = inputs([3, 2], 2, 9)
    x = example.projected.requires_grad_()
    (gradient,) = torch.autograd.grad(recurrence.highway_lstm(*example).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiable once"):
        gradient.sum().backward()


class TestKernelsAgainstTorch:
    @KEEP
    @DTYPES
    @pytest.mark.parametrize(
        ("B", "n"), [(1, 1), (5, 7), (17, 1), (17, 7)], ids=["B1-n1", "B5-n7", "B17-n1", "B17-n7"]
    )
    @pytest.mark.parametrize(
        ("K", "H"),
        [(1, 64), (2, 1), (2, 13), (4, 3), (4, 8)],
        ids=["K1-H64", "K2-H1", "K2-H13", "K4-H3", "K4-H8"],
    )
    def test_values_and_gradients(self, B, n, K, H, dtype, dropped):
        example = inputs(ragged(B, n), K, H, dtype=dtype, dropped=dropped)
        ours, theirs = (gradients(f, example) for f in (recurrence.highway_lstm, naive.highway_lstm))
        assert_agree(ours, theirs, 1e-11 if dtype == torch.float64 else 1e-5)

    @given(
        st.lists(st.integers(1, 9), min_size=1, max_size=35),
        st.integers(1, 3),
        st.integers(1, 41),
        st.booleans(),
    )
    def test_any_size(self, lengths, K, H, dropped):
        example = inputs(lengths, K, H, dropped=dropped)
        ours, theirs = (gradients(f, example) for f in (recurrence.highway_lstm, naive.highway_lstm))
        assert_agree(ours, theirs, 1e-10)

    def test_the_sizes_of_the_models(self):
        example = inputs(ragged(33, 25), 2, 100, dtype=torch.float32)
        ours = gradients(recurrence.highway_lstm, example)
        exact = example.with_tensors(*(x.double() for x in example.tensors))
        theirs = gradients(naive.highway_lstm, exact)
        assert_agree(ours, [x.float() for x in theirs], 1e-5)

    def test_implementation_is_chosen_by_context(self):
        example = inputs([3, 2], 2, 9)
        with implementation("torch"):
            found = recurrence.highway_lstm(*example)
        assert torch.equal(found, naive.highway_lstm(*example))


@KEEP
@DTYPES
def test_threads_give_the_same_numbers(monkeypatch, dtype, dropped):
    example = inputs(ragged(37, 6), 4, 24, dtype=dtype, dropped=dropped)
    alone = gradients(recurrence.highway_lstm, example)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 0)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        together = gradients(recurrence.highway_lstm, example)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, two) for one, two in zip(alone, together, strict=True))


GOOD = inputs([3, 2], 2, 4, dtype=torch.float32)


@BOTH
@pytest.mark.parametrize(
    ("error", "message", "change"),
    [
        (ValueError, r"projected: expected shape \(B, n, K, 6H\)", {"projected": GOOD.projected[0]}),
        (ValueError, r"projected: expected \(B, n, K, 6H\) with", {"projected": GOOD.projected[..., 1:]}),
        (TypeError, "projected: expected a floating-point tensor", {"projected": GOOD.projected.long()}),
        (ValueError, r"weight: expected shape \(2, 20, 4\), found", {"weight": GOOD.weight[:, 1:]}),
        (TypeError, "weight: expected torch.float32 like projected", {"weight": GOOD.weight.double()}),
        (ValueError, r"bias: expected shape \(2, 20\), found \(1, 20\)", {"bias": GOOD.bias[:1]}),
        (ValueError, r"keep: expected shape \(2, 2, 4\), found", {"keep": GOOD.keep[:1]}),
        (TypeError, "lengths: expected torch.int64", {"lengths": GOOD.lengths.int()}),
        (ValueError, "lengths: expected 1 to 3 .*, found 4 in row 1", {"lengths": torch.tensor([3, 4])}),
        (ValueError, "lengths: expected 1 to 3 .*, found 0 in row 0", {"lengths": torch.tensor([0, 3])}),
    ],
    ids=["dimensions", "sixths", "dtype", "weight", "weight dtype", "bias", "keep", "int32", "long", "zero"],
)
def test_wrong_arguments_are_named(highway_lstm, error, message, change):
    with (
        implementation("torch" if highway_lstm is naive.highway_lstm else "auto"),
        pytest.raises(error, match=message),
    ):
        recurrence.highway_lstm(*GOOD._replace(**change))


@KEEP
def test_operators_keep_torchs_rules(dropped):
    projected, weight, bias, lengths, keep = inputs([4, 2, 3], 2, 9, dropped=dropped)
    plain = projected, weight, bias, lengths, keep
    states, saved = recurrence._highway_lstm(*plain)
    # Uninitialised past the lengths, so two calls only agree without padding.
    full = torch.full_like(lengths, 4)
    wanted = (x.clone().requires_grad_() for x in plain[:3])
    torch.library.opcheck(recurrence._highway_lstm.known, (*wanted, full, keep))
    arguments = torch.ones_like(states), weight, lengths, keep, states, saved
    torch.library.opcheck(recurrence._highway_lstm_backward.known, arguments)


def test_operators_compile():
    example = inputs([4, 2], 2, 9)
    x = example.projected.requires_grad_()

    def loss(x):
        return recurrence._highway_lstm(x, *example[1:])[0].square().sum()

    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    found, expected = (torch.autograd.grad(f(x), x)[0] for f in (compiled, loss))
    assert_close(found, expected)
