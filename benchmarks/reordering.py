"""Time and memory of the reordering layer and of the published algorithm, forward and backward.

Both start from the same vectors and parameters and compute the gradients of all of them. Outputs and
gradients are compared in the same run, before any time is printed.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import timing
from ftor.nn import ReorderingLayer
from ftor.ops import permutation
from ftor.ops.span_scores import difference_scores

published: Any = timing.from_tests("oracles.published")

WIDTH, HIDDEN = 200, 800
ALLOWED_DIFFERENCE = {torch.float32: 1e-3, torch.float64: 1e-9}  # relative to the norm of each tensor
FORWARD_FLOPS = 6  # per (b, i, j, k, h): an addition, a comparison, two multiply-adds
BACKWARD_FLOPS = 10  # the first two again; a multiply-add for each operation, into a left and a right sum
REPEATS = 3
Step = Callable[[], list[Tensor]]


class Case(NamedTuple):
    """A batch of equally long sequences."""

    length: int
    batch: int
    dropout: float = 0.0
    dtype: torch.dtype = torch.float32

    def figures(self) -> dict[str, float]:
        """Describe the case in a table."""
        return {"length": self.length, "batch": self.batch, "dropout": self.dropout}

    @property
    def description(self) -> str:
        """Describe the case in a message."""
        dtype = str(self.dtype).removeprefix("torch.")
        return f"length {self.length}, batch {self.batch}, dropout {self.dropout}, {dtype}"


WARM_UP = Case(length=4, batch=2)
COMPARED = [Case(length, 32) for length in (10, 20, 30, 40)]
TRAINED = [Case(length, 32, dropout=0.1) for length in (10, 20, 30)]
LONG = [Case(100, 8), Case(200, 1)]


class Setting(NamedTuple):
    """The inputs and parameters of a step."""

    layer: ReorderingLayer
    x: Tensor  # (B, L, D)
    lengths: Tensor  # (B,)
    weight: Tensor  # (B, L, L), makes a loss of the marginals

    @property
    def leaves(self) -> list[Tensor]:
        """The tensors that get a gradient: the input and every parameter."""
        return [self.x, *self.layer.parameters()]


def setting(case: Case) -> Setting:
    """Draw the same numbers for every step that is compared."""
    torch.manual_seed(0)
    layer = ReorderingLayer(WIDTH, hidden=HIDDEN, dropout=case.dropout).to(case.dtype)
    x = torch.randn(case.batch, case.length, WIDTH, dtype=case.dtype, requires_grad=True)
    weight = torch.randn(case.batch, case.length, case.length, dtype=case.dtype)
    return Setting(layer, x, torch.full((case.batch,), case.length), weight)


def with_gradients(marginals: Tensor, given: Setting) -> list[Tensor]:
    """The backward pass; returns the marginals and all gradients."""
    gradients = torch.autograd.grad((marginals * given.weight).sum(), given.leaves)
    return [marginals.detach(), *gradients]


def ftor_step(case: Case) -> Step:
    """Make the step of our layer."""
    given = setting(case)
    return lambda: with_gradients(given.layer(given.x, given.lengths).marginals, given)


def published_step(case: Case) -> Step:
    """Make the step of the published algorithm with the parameters of our layer."""
    given = setting(case)
    layer = given.layer
    mlp = nn.Sequential(layer.hidden, nn.ReLU(), nn.Dropout(case.dropout), layer.output)

    def run() -> list[Tensor]:
        scores = published.published_scores(given.x, layer.begin, layer.end, mlp, given.lengths)
        rules = published.inside(scores, given.lengths).rules
        return with_gradients(published.expected_permutation(rules, given.lengths), given)

    return run


def prepare_ftor(*case: Any) -> timing.Call:
    """Make our step in a new process."""
    return ftor_step(Case(*case))


def prepare_published(*case: Any) -> timing.Call:
    """Make the published step in a new process."""
    return published_step(Case(*case))


def agreement(case: Case) -> float:
    """Compute the difference between both. Stops the benchmark if it is too large."""
    timing.progress(f"do both agree at {case.description}?")
    difference = timing.largest_difference(ftor_step(case)(), published_step(case)())
    timing.refuse_unless_equal(f"reordering, {case.description}", difference, ALLOWED_DIFFERENCE[case.dtype])
    return difference


def compare(case: Case, repeats: int) -> dict[str, float]:
    """Measure time and memory of both."""
    timing.progress(f"measuring both at {case.description}")
    seconds = timing.median_seconds({"ftor": ftor_step(case), "published": published_step(case)}, repeats)
    ftor_peak = timing.peak_megabytes(prepare_ftor, WARM_UP, case)
    published_peak = timing.peak_megabytes(prepare_published, WARM_UP, case)
    return {
        **case.figures(),
        "published_s": seconds["published"],
        "ftor_s": seconds["ftor"],
        "times_faster": seconds["published"] / seconds["ftor"],
        "published_mb": published_peak,
        "ftor_mb": ftor_peak,
        "times_smaller": published_peak / ftor_peak,
    }


def measure_ftor(case: Case, repeats: int) -> dict[str, float]:
    """Measure our layer where the published algorithm needs too much memory."""
    timing.progress(f"measuring ftor at {case.description}")
    seconds = timing.median_seconds({"ftor": ftor_step(case)}, repeats)["ftor"]
    return {
        **case.figures(),
        "ftor_s": seconds,
        "ftor_mb": timing.peak_megabytes(prepare_ftor, WARM_UP, case),
    }


def exponents(figures: Sequence[dict[str, float]], who: str) -> dict[str, float]:
    """Fit the exponents of time and memory in the length, per row because long cases have smaller batches."""
    lengths = [figure["length"] for figure in figures]
    return {
        what: timing.fitted_exponent(
            lengths, [figure[f"{who}_{unit}"] / figure["batch"] for figure in figures]
        )
        for what, unit in (("time", "s"), ("memory", "mb"))
    }


def backward_of(outputs: Tensor, inputs: Sequence[Tensor]) -> timing.Call:
    """Make a call that runs the backward pass of `outputs`. It can be repeated."""
    gradient = torch.randn_like(outputs)
    return lambda: torch.autograd.grad(outputs, inputs, gradient, retain_graph=True)


def parts(case: Case, repeats: int) -> dict[str, float]:
    """Measure the parts of a step in seconds: projections, scorer, dynamic programmes, and the rest."""
    timing.progress(f"measuring the parts at {case.description}")
    given = setting(case)
    layer, lengths, length = given.layer, given.lengths, case.length
    posts = torch.randn(case.batch, length + 1, WIDTH, requires_grad=True)
    projection = torch.randn(WIDTH, 2 * HIDDEN, requires_grad=True)
    projected = posts @ projection
    left, right = (part.detach().contiguous().requires_grad_() for part in projected.chunk(2, -1))
    scored = (left, right, layer.hidden.bias, layer.output.weight, layer.output.bias)
    scores = difference_scores(*scored, lengths)
    packed = scores.detach().requires_grad_()

    def programmes() -> Tensor:
        _, rules = permutation.inside(packed, lengths, length)
        return permutation.expected_permutation(rules, lengths, length)

    seconds = timing.median_seconds(
        {
            "projections forward": lambda: posts @ projection,
            "projections backward": backward_of(projected, [posts, projection]),
            "scorer forward": lambda: difference_scores(*scored, lengths),
            "scorer backward": backward_of(scores, scored),
            "programmes forward": programmes,
            "programmes backward": backward_of(programmes(), [packed]),
            "step": ftor_step(case),
        },
        repeats,
    )
    step = seconds.pop("step")
    return {**seconds, "rest": step - sum(seconds.values()), "step": step}


def scorer_rates(case: Case, seconds: dict[str, float], repeats: int) -> dict[str, float]:
    """Compute the GFLOP/s of the scorer, and of a large matrix product for comparison."""
    hidden_units = case.batch * math.comb(case.length + 1, 3) * HIDDEN
    square = torch.randn(1024, 1024)
    product = timing.median_seconds({"mm": lambda: torch.mm(square, square)}, repeats)["mm"]
    return {
        "scorer forward": FORWARD_FLOPS * hidden_units / seconds["scorer forward"] / 1e9,
        "scorer backward": BACKWARD_FLOPS * hidden_units / seconds["scorer backward"] / 1e9,
        "torch.mm 1024³": 2 * 1024**3 / product / 1e9,
    }


def main() -> None:
    """Check, measure, print and write."""
    options = timing.arguments("reordering", (__doc__ or "").splitlines()[0])
    compared_cases = COMPARED[:2] if options.quick else COMPARED
    trained_cases = TRAINED[:1] if options.quick else TRAINED
    case = COMPARED[1] if options.quick else COMPARED[2]
    # Without dropout, because the two implementations draw different masks.
    differences = {c.length: agreement(c) for c in compared_cases}
    agreement(COMPARED[0]._replace(dtype=torch.float64))  # rounding cannot hide a small error here

    compared = [compare(c, REPEATS) for c in compared_cases]
    trained = [compare(c, REPEATS) for c in trained_cases]
    alone = [measure_ftor(c, 1 if options.quick else REPEATS) for c in (LONG[1:] if options.quick else LONG)]
    seconds = parts(case, 3 * REPEATS)
    rates = scorer_rates(case, seconds, 3 * REPEATS)
    # A batch of one runs in one thread, so its time does not belong to the same curve.
    grown = {
        "published": exponents(compared, "published"),
        "ftor": exponents([*compared, *(figure for figure in alone if figure["batch"] > 1)], "ftor"),
    }

    timing.print_records("forward + backward", compared)
    timing.print_records("the same with dropout", trained)
    timing.print_records("ftor alone", alone)
    timing.print_table(
        "relative difference of outputs and gradients", ["length", "float32"], list(differences.items())
    )
    timing.print_table(
        "cost per row ∝ length^x", ["who", "time", "memory"], [[who, *x.values()] for who, x in grown.items()]
    )
    timing.print_table(
        f"where the time goes: {case.description}",
        ["part", "seconds", "share"],
        [[part, value, f"{value / seconds['step']:.0%}"] for part, value in seconds.items()],
    )
    timing.print_table("arithmetic", ["what", "GFLOP/s"], list(rates.items()))
    figures = {
        "compared": compared,
        "with_dropout": trained,
        "alone": alone,
        "differences": differences,
        "exponents": grown,
        "parts": {**case.figures(), "seconds": seconds, "gflops": rates},
    }
    timing.write_json(options.out, figures)


if __name__ == "__main__":
    main()
