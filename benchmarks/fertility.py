"""Speed of the fertility layer's marginals and length probabilities, forward and backward, over n·l."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

import ftor
import ftor.ops
import timing

ALLOWED_DIFFERENCE = 1e-4  # float32, relative to the norm of each tensor


class Case(NamedTuple):
    """B rows of n tokens with fertilities up to d, and `length` intermediate tokens."""

    batch: int
    n: int
    length: int
    d: int


PAPER = Case(batch=32, n=12, length=25, d=4)
GROWING = [Case(8, n, 2 * n, 4) for n in (50, 100, 200, 400)]
WARM_UP = Case(2, 3, 4, 2)


def step(case: Case) -> Callable[[], list[Tensor]]:
    """Make a forward and backward pass that returns both outputs and the gradient of the logits."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(case.batch, case.n, case.d + 1, generator=generator, requires_grad=True)
    weight = torch.randn(case.batch, case.n, case.length, case.d, generator=generator)
    lengths = torch.full((case.batch,), case.length)

    def run() -> list[Tensor]:
        fertility = ftor.Fertility(logits)
        marginals, log_prob = fertility.given(lengths).marginals, fertility.log_prob_length(lengths)
        (gradient,) = torch.autograd.grad((marginals * weight).sum() + log_prob.sum(), logits)
        return [marginals.detach(), log_prob.detach(), gradient]

    return run


def naive_step(case: Case) -> Callable[[], list[Tensor]]:
    """Make the same step in plain torch."""
    run = step(case)

    def run_naive() -> list[Tensor]:
        with ftor.ops.implementation("torch"):
            return run()

    return run_naive


def prepare(batch: int, n: int, length: int, d: int) -> timing.Call:
    """Make the kernels' step in a new process."""
    return step(Case(batch, n, length, d))


def measure(case: Case, repeats: int) -> dict[str, float]:
    """Check that kernels and plain torch agree on this case, then time both."""
    timing.progress(f"measuring {case}")
    kernels, naive = step(case), naive_step(case)
    difference = timing.largest_difference(kernels(), naive())
    timing.refuse_unless_equal(f"fertility {tuple(case)}", difference, ALLOWED_DIFFERENCE)
    seconds = timing.median_seconds({"ftor": kernels, "torch": naive}, repeats)
    return {
        **case._asdict(),
        "ftor_ms": 1e3 * seconds["ftor"],
        "torch_ms": 1e3 * seconds["torch"],
        "ratio": seconds["torch"] / seconds["ftor"],
        "ftor_peak_mb": timing.peak_megabytes(prepare, WARM_UP, case),
        "difference": difference,
    }


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("fertility", __doc__ or "")
    repeats = 3 if options.quick else 9
    growing = GROWING[:2] if options.quick else GROWING
    figures = [measure(case, repeats) for case in [PAPER, *growing]]
    exponent = timing.fitted_exponent(
        [case.n * case.length for case in growing], [figure["ftor_ms"] for figure in figures[1:]]
    )
    timing.print_records("forward + backward", figures)
    print(f"\ntime grows with (n·l)^{exponent:.2f} over the cases of batch 8")
    timing.write_json(options.out, {"cases": figures, "exponent_of_nl": exponent})


if __name__ == "__main__":
    main()
