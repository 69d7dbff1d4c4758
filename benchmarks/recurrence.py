"""Speed of the highway BiLSTM, forward and backward, and of plain torch and torch's LSTM for comparison."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

import ftor.ops
import timing
from ftor.nn import BiLSTM, HighwayBiLSTM

ALLOWED_DIFFERENCE = 1e-4  # float32, relative to the norm of each tensor


class Case(NamedTuple):
    """Two layers of `encoders` encoders of D units, on B sequences of n tokens."""

    batch: int
    n: int
    width: int
    encoders: int


PAPER = Case(batch=32, n=12, width=200, encoders=1)
MIRROR = [Case(64, 7, 128, 2), Case(64, 12, 128, 1)]

Step = Callable[[], list[Tensor]]


def step(case: Case, run: Callable[[Tensor], tuple[Tensor, ...]], parameters: list[nn.Parameter]) -> Step:
    """Make a forward and backward pass that returns the outputs and all gradients."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(case.batch, case.n, case.width, generator=generator, requires_grad=True)
    weight = torch.randn(case.batch, case.n, case.width, generator=generator)

    def both_passes() -> list[Tensor]:
        outputs = run(x)
        grads = torch.autograd.grad([(output * weight).sum() for output in outputs], [x, *parameters])
        return [*(output.detach() for output in outputs), *grads]

    return both_passes


def steps(case: Case) -> dict[str, Step]:
    """Make what is compared, all without dropout: kernels, the same in plain torch, and torch's LSTM."""
    torch.manual_seed(0)
    lengths = torch.full((case.batch,), case.n)
    highway = HighwayBiLSTM(case.width, encoders=case.encoders, recurrent_dropout=0, layer_dropout=0)
    lstm = BiLSTM(case.width, encoders=case.encoders, layer_dropout=0)

    def in_torch(x: Tensor) -> tuple[Tensor, ...]:
        with ftor.ops.implementation("torch"):
            return tuple(highway(x, lengths))

    def dense(x: Tensor) -> tuple[Tensor, ...]:
        return tuple(stack(x)[0] for stack in lstm.stacks)

    highway_parameters, lstm_parameters = list(highway.parameters()), list(lstm.parameters())
    return {
        "ftor": step(case, lambda x: tuple(highway(x, lengths)), highway_parameters),
        "torch": step(case, in_torch, highway_parameters),
        "lstm": step(case, dense, lstm_parameters),
        "lstm_packed": step(case, lambda x: tuple(lstm(x, lengths)), lstm_parameters),
    }


def measure(case: Case, threads: int, repeats: int) -> dict[str, float]:
    """Check that kernels and plain torch agree on this case, then time all."""
    timing.progress(f"measuring {case} with {threads} threads")
    torch.set_num_threads(threads)
    compared = steps(case)
    difference = timing.largest_difference(compared["ftor"](), compared["torch"]())
    timing.refuse_unless_equal(f"recurrence {tuple(case)}", difference, ALLOWED_DIFFERENCE)
    seconds = timing.median_seconds(compared, repeats)
    return {
        **case._asdict(),
        "threads": threads,
        **{f"{name}_ms": 1e3 * value for name, value in seconds.items()},
        "torch_ratio": seconds["torch"] / seconds["ftor"],
        "lstm_ratio": seconds["lstm"] / seconds["ftor"],
        "difference": difference,
    }


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("recurrence", __doc__ or "")
    repeats = 5 if options.quick else 21
    cases = [PAPER] if options.quick else [PAPER, *MIRROR]
    figures = [measure(case, threads, repeats) for case in cases for threads in (1, 2)]
    timing.print_records(
        "forward + backward; ratios: plain torch, and torch's dense LSTM, over ftor", figures
    )
    timing.write_json(options.out, {"cases": figures})


if __name__ == "__main__":
    main()
