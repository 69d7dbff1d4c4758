"""The tests that every distribution has to pass. Subclasses say how it is built and what its values are."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.distributions import Distribution
from torch.testing import assert_close

Parameters = tuple[Tensor, ...]
"""What a distribution is built from: floating-point numbers (B, …), then int64 lengths (B,)."""


class Values(NamedTuple):
    """Every value of one row, by enumeration."""

    events: Tensor  # (K, *event_shape)
    log_probs: Tensor  # (K,)
    features: Tensor  # (K, …), what each value contributes to the marginals of its row


@pytest.mark.usefixtures("both")
class DistributionTests:
    """Inherit, and define `names`, `batches`, `build`, `values`, `alone`, `garbled` and `count`."""

    names: tuple[str, ...]
    """What the parameters are called."""

    def batches(self, dtype: torch.dtype = torch.float64) -> list[Parameters]:
        """Some batches with padding, of several sizes; the last is small enough for finite differences."""
        raise NotImplementedError

    def build(self, *parameters: Tensor, **options: Any) -> Distribution:
        """The distribution."""
        raise NotImplementedError

    def values(self, parameters: Parameters, row: int) -> Values:
        """All values of a row."""
        raise NotImplementedError

    def alone(self, parameters: Parameters, row: int) -> Parameters:
        """One row without any padding."""
        raise NotImplementedError

    def garbled(self, parameters: Parameters) -> Parameters:
        """The same with NaN wherever nothing should be read."""
        raise NotImplementedError

    def count(self, parameters: Parameters, row: int) -> int:
        """How many values a row has, by a formula."""
        raise NotImplementedError

    def events(self, drawn: Any) -> Tensor:
        """The tensor (…, B, *event_shape) of what `sample` and `argmax` give."""
        return drawn

    def static_options(self, parameters: Parameters) -> dict[str, Any]:
        """Options for compiled code, which cannot read sizes from tensors."""
        return {}

    def small(self) -> Parameters:
        return self.batches()[-1]

    def rows(self) -> Iterator[tuple[Distribution, Parameters, int]]:
        """Every row of every batch."""
        for parameters in self.batches():
            distribution = self.build(*parameters)
            for row in range(len(parameters[0])):
                yield distribution, parameters, row

    @staticmethod
    def padded_to(small: Tensor, big: Tensor) -> Tensor:
        """`small` in the first places of zeros of the shape of `big`."""
        out = torch.zeros_like(big)
        out[tuple(slice(size) for size in small.shape)] = small
        return out

    def outputs(self, distribution: Distribution) -> dict[str, Tensor]:
        """Everything that has a gradient."""
        return {
            "marginals": distribution.marginals,
            "entropy": distribution.entropy,
            "log_prob": distribution.log_prob(distribution.argmax),
        }

    def gradient(self, parameters: Parameters, **options: Any) -> Tensor:
        """Of a sum of all outputs, in which every marginal has a weight by its place."""
        x, *lengths = parameters
        x = x.detach().clone().requires_grad_()
        outputs = self.outputs(self.build(x, *lengths, **options))
        marginals = outputs.pop("marginals")
        places = sum(
            torch.arange(size, dtype=x.dtype).view(-1, *[1] * after) * (1 + after)
            for size, after in zip(marginals.shape[1:], reversed(range(marginals.dim() - 1)), strict=True)
        )
        loss = (marginals * places.sin()).sum() + sum(value.sum() for value in outputs.values())
        return torch.autograd.grad(loss, x)[0]

    # Against enumeration

    def test_it_counts(self) -> None:
        for parameters in self.batches():
            flat = torch.zeros_like(parameters[0]), *parameters[1:]
            entropy = self.build(*flat).entropy
            for row in range(len(flat[0])):
                number = self.count(parameters, row)
                assert len(self.values(parameters, row).events) == number
                assert entropy[row].item() == pytest.approx(math.log(number))

    def test_log_probs_are_right_and_sum_to_one(self) -> None:
        for distribution, parameters, row in self.rows():
            values = self.values(parameters, row)
            # The other rows hold values of their own, which every row has.
            best = self.events(distribution.argmax)
            events = best.expand(len(values.events), *best.shape).clone()
            events[:, row] = values.events
            log_probs = distribution.log_prob(events)
            assert log_probs.shape == events.shape[:2]
            assert_close(log_probs[:, row], values.log_probs)
            assert log_probs[:, row].exp().sum().item() == pytest.approx(1)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
    def test_marginals_are_means_over_all_values(self, dtype: torch.dtype) -> None:
        close = {"rtol": 1e-9, "atol": 1e-10} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 2e-5}
        for parameters in self.batches():
            marginals = self.build(parameters[0].to(dtype), *parameters[1:]).marginals
            assert marginals.dtype == dtype
            assert bool(((marginals >= 0) & (marginals <= 1 + 1e-5)).all())
            for row in range(len(marginals)):
                values = self.values(parameters, row)
                mean = torch.tensordot(values.log_probs.exp(), values.features, 1).to(dtype)
                assert_close(marginals[row], self.padded_to(mean, marginals[row]), **close)

    def test_entropy_is_that_of_all_values(self) -> None:
        for distribution, parameters, row in self.rows():
            log_probs = self.values(parameters, row).log_probs
            assert_close(distribution.entropy[row], -(log_probs.exp() * log_probs).sum())

    def test_argmax_is_the_best_of_all_values(self) -> None:
        for distribution, parameters, row in self.rows():
            values = self.values(parameters, row)
            best = self.events(distribution.argmax)[row]
            assert best.dtype == torch.int64
            assert torch.equal(best, values.events[values.log_probs.argmax()])

    def test_samples_are_as_frequent_as_they_should(self) -> None:
        draws = 4000
        for parameters in self.batches():
            distribution = self.build(*parameters)
            drawn = self.events(distribution.sample((draws,), generator=torch.Generator().manual_seed(0)))
            for row in range(len(parameters[0])):
                values = self.values(parameters, row)
                number = {tuple(event.flatten().tolist()): k for k, event in enumerate(values.events)}
                found = [number[tuple(event.flatten().tolist())] for event in drawn[:, row]]
                observed = np.bincount(found, minlength=len(number))
                expected = draws * values.log_probs.exp().numpy()
                frequent = expected >= 5
                observed, expected = (
                    np.append(counts[frequent], counts[~frequent].sum()) for counts in (observed, expected)
                )
                kept = expected > 1e-9
                assert not observed[~kept].any()
                if kept.sum() > 1:
                    assert chisquare(observed[kept], expected[kept]).pvalue > 1e-4

    # Values

    def test_it_is_a_distribution_of_torch(self) -> None:
        for parameters in self.batches():
            distribution = self.build(*parameters)
            assert isinstance(distribution, Distribution)
            assert distribution.batch_shape == parameters[0].shape[:1]
            event = self.events(distribution.argmax)
            assert event.shape == distribution.batch_shape + distribution.event_shape
            assert distribution.entropy.shape == distribution.batch_shape
            for name, tensor in zip(self.names, parameters, strict=True):
                assert torch.equal(getattr(distribution, name), tensor)

    @pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,)], ids=str)
    def test_samples_have_a_shape_and_are_in_the_support(self, shape: tuple[int, ...]) -> None:
        for parameters in self.batches():
            distribution = self.build(*parameters)
            drawn = self.events(distribution.sample(shape))
            assert drawn.shape == torch.Size(shape) + distribution.batch_shape + distribution.event_shape
            assert bool(distribution.support.check(drawn).all())
            assert bool(distribution.support.check(self.events(distribution.argmax)).all())
            assert distribution.log_prob(drawn).shape == torch.Size(shape) + distribution.batch_shape

    def test_samples_follow_the_generator_or_the_global_seed(self) -> None:
        distribution = self.build(*self.batches()[0])

        def draw(seed: int, own: bool) -> Tensor:
            generator = torch.Generator().manual_seed(seed) if own else None
            torch.manual_seed(seed)
            return self.events(distribution.sample((20,), generator=generator))

        assert torch.equal(draw(1, own=True), draw(1, own=True))
        assert torch.equal(draw(1, own=False), draw(1, own=False))
        assert not torch.equal(draw(1, own=True), draw(2, own=True))

    def test_values_outside_the_support_are_refused(self) -> None:
        distribution = self.build(*self.small())
        wrong = self.events(distribution.argmax).clone()
        wrong[0, 0] = 99
        assert not bool(distribution.support.check(wrong)[0])
        with pytest.raises(ValueError, match=r"value: expected .* in row 0"):
            distribution.log_prob(wrong)
        with pytest.raises(ValueError, match=r"value: expected .* of shape"):
            distribution.log_prob(wrong[:, :1])

    # Batches

    def test_padded_equals_unpadded(self, both: str) -> None:
        for distribution, parameters, row in self.rows():
            small = self.alone(parameters, row)
            found, expected = self.outputs(distribution), self.outputs(self.build(*small))
            for name in found:
                assert_close(found[name][row], self.padded_to(expected[name][0], found[name][row]))
            gradient = self.gradient(parameters)[row]
            assert_close(gradient, self.padded_to(self.gradient(small)[0], gradient))
            if both == "kernels":  # to the last bit: torch adds in another order when shapes differ
                marginals = self.padded_to(expected["marginals"][0], found["marginals"][row])
                assert torch.equal(found["marginals"][row], marginals)

    def test_a_row_does_not_depend_on_its_batch(self) -> None:
        for distribution, _, row in self.rows():
            one, marginals = distribution.take(torch.tensor([row])), distribution.marginals[row]
            assert torch.equal(marginals, self.padded_to(one.marginals[0], marginals))
            assert_close(one.entropy[0], distribution.entropy[row])
            assert torch.equal(self.events(one.argmax)[0], self.events(distribution.argmax)[row])

    def test_garbage_in_the_padding_changes_nothing(self) -> None:
        for clean in self.batches():
            dirty = self.garbled(clean)
            found, expected = (self.outputs(self.build(*parameters)) for parameters in (dirty, clean))
            assert all(torch.equal(found[name], expected[name]) for name in found)
            gradient = self.gradient(dirty)
            assert torch.equal(gradient, self.gradient(clean))
            assert not gradient[dirty[0].isnan()].any()

    def test_one_row_becomes_many(self) -> None:
        parameters = tuple(tensor[:1] for tensor in self.batches()[0])
        one = self.build(*parameters)
        many = one.expand((3,))
        assert type(many) is type(one)
        assert many.batch_shape == (3,)
        assert many.event_shape == one.event_shape
        for name, value in self.outputs(many).items():
            assert torch.equal(value, self.outputs(one)[name].expand_as(value))

    def test_no_rows(self) -> None:
        for parameters in self.batches():
            none = self.build(*(tensor[:0] for tensor in parameters))
            assert none.marginals.shape[0] == 0
            assert none.entropy.shape == (0,)
            assert self.events(none.sample((2,))).shape == (2, 0, *none.event_shape)
            assert none.log_prob(none.argmax).shape == (0,)

    # Numbers

    def test_gradients_agree_with_finite_differences(self) -> None:
        x, *lengths = self.small()
        for name in self.outputs(self.build(x, *lengths)):
            assert gradcheck(
                lambda x, name=name: self.outputs(self.build(x, *lengths))[name],
                x.clone().requires_grad_(),
                fast_mode=True,
            )

    def test_a_second_derivative_works_or_says_that_it_does_not(self, both: str) -> None:
        x, *lengths = self.small()
        for name in self.outputs(self.build(x, *lengths)):
            try:
                assert gradgradcheck(
                    lambda x, name=name: self.outputs(self.build(x, *lengths))[name],
                    x.clone().requires_grad_(),
                    fast_mode=True,
                )
            except RuntimeError as error:
                assert both == "kernels"
                assert "differentiable once: for higher derivatives compute within" in str(error)  # noqa: PT017

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
    def test_enormous_parameters_stay_finite(self, dtype: torch.dtype) -> None:
        for parameters in self.batches(dtype):
            for scale in (1e4, 1e6):
                x = scale * parameters[0].sign() * torch.rand_like(parameters[0])
                found = self.outputs(self.build(x, *parameters[1:]))
                assert all(value.isfinite().all() and value.dtype == dtype for value in found.values())
                assert self.gradient((x, *parameters[1:])).isfinite().all()

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
    def test_half_precision_is_computed_in_float32(self, dtype: torch.dtype) -> None:
        x, *lengths = self.small()
        x = x.to(dtype).requires_grad_()
        found, expected = (self.outputs(self.build(y, *lengths)) for y in (x, x.float()))
        for name, value in found.items():
            assert value.dtype == torch.float32
            assert torch.equal(value, expected[name])
        found["marginals"].square().sum().backward()
        assert x.grad.dtype == dtype

    # Tensors whose values cannot be read

    def test_meta_tensors(self) -> None:
        for parameters in self.batches():
            options = self.static_options(parameters)
            real = self.build(*parameters, **options)
            meta = self.build(*(tensor.to("meta") for tensor in parameters), validate_args=False, **options)
            for name, value in self.outputs(meta).items():
                assert value.is_meta
                assert value.shape == self.outputs(real)[name].shape
            drawn = self.events(meta.sample((2,)))
            assert drawn.is_meta
            assert drawn.shape == self.events(real.sample((2,))).shape

    def test_vmap(self) -> None:
        for x, *lengths in self.batches():
            several = torch.stack([x, x.flip(-1), -x])
            build = partial(self.unchecked, lengths)
            found = torch.func.vmap(lambda x, build=build: self.outputs(build(x)))(several)
            for index, one in enumerate(several):
                for name, value in self.outputs(build(one)).items():
                    assert_close(found[name][index], value)

    def unchecked(self, lengths: list[Tensor], x: Tensor) -> Distribution:
        return self.build(x, *lengths, validate_args=False)

    def test_vmap_of_gradients_and_samples(self) -> None:
        x, *lengths = self.batches()[0]
        several = torch.stack([x, x.flip(-1), -x])

        def loss(x: Tensor) -> Tensor:
            return self.unchecked(lengths, x).marginals.square().sum()

        gradients = torch.func.vmap(torch.func.grad(loss))(several)
        for gradient, one in zip(gradients, several, strict=True):
            leaf = one.clone().requires_grad_()
            assert_close(gradient, torch.autograd.grad(loss(leaf), leaf)[0])

        def draw(x: Tensor) -> Tensor:
            return self.events(self.unchecked(lengths, x).sample((2,)))

        assert torch.func.vmap(draw, randomness="different")(several).shape[:2] == (3, 2)

    @pytest.mark.filterwarnings(
        "ignore:The .grad attribute of a Tensor:UserWarning"
    )  # torch.compile reads it
    def test_compiled_without_graph_breaks(self) -> None:
        x, *lengths = self.small()
        options = self.static_options((x, *lengths))

        def loss(x: Tensor) -> Tensor:
            distribution = self.build(x, *lengths, **options)
            return distribution.marginals.square().sum() + distribution.entropy.sum()

        compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
        results = []
        for function in (loss, compiled):
            leaf = x.clone().requires_grad_()
            value = function(leaf)
            results.append([value, *torch.autograd.grad(value, leaf)])
        assert_close(*results)
