"""Speed of the search for a grammar's best strings: the ATIS grammar, random scores, over the length."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

import ftor.ops
import timing
from ftor.grammar import Grammar

ALLOWED_DIFFERENCE = 1e-6  # float32 scores, added in float64
CHECKED = 2  # rows that plain Python searches too; it takes seconds per row


class Case(NamedTuple):
    """B rows of `length` tokens, of which the n best strings are wanted."""

    batch: int
    length: int
    n: int


CASES = [Case(64, 10, 1), Case(64, 20, 1), Case(64, 50, 1), Case(64, 20, 5)]
WARM_UP = Case(1, 3, 1)


def search(case: Case, rows: int) -> Callable[[], list[Tensor]]:
    """Make the search over the first `rows` rows. It returns scores and columns."""
    grammar = Grammar.read("atis")
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(case.batch, case.length, len(grammar.terminals), generator=generator)
    scores, lengths = logits.log_softmax(-1)[:rows], torch.full((rows,), case.length)
    return lambda: [x.double() for x in grammar.n_best(scores, lengths, case.n)]


def prepare(batch: int, length: int, n: int) -> timing.Call:
    """Make the search in a new process."""
    return search(Case(batch, length, n), batch)


def measure(case: Case, repeats: int) -> dict[str, float]:
    """Check some rows against plain Python, then time all."""
    timing.progress(f"measuring {case}")
    few = search(case, CHECKED)
    with ftor.ops.implementation("torch"):
        expected = few()
    difference = timing.largest_difference(few(), expected)
    timing.refuse_unless_equal(f"grammar {tuple(case)}", difference, ALLOWED_DIFFERENCE)
    seconds = timing.median_seconds({"ftor": search(case, case.batch)}, repeats)["ftor"]
    return {
        **case._asdict(),
        "ms": 1e3 * seconds,
        "ms_per_row": 1e3 * seconds / case.batch,
        "peak_mb": timing.peak_megabytes(prepare, WARM_UP, case),
        "difference": difference,
    }


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("grammar", __doc__ or "")
    cases = CASES[:2] if options.quick else CASES
    figures = [measure(case, 3 if options.quick else 9) for case in cases]
    best = [figure for figure in figures if figure["n"] == 1]
    exponent = timing.fitted_exponent(
        [figure["length"] for figure in best], [figure["ms"] for figure in best]
    )
    timing.print_records(f"best strings of the ATIS grammar, {torch.get_num_threads()} threads", figures)
    print(f"\ntime grows with l^{exponent:.2f} for the best string")
    timing.write_json(options.out, {"cases": figures, "exponent_of_l": exponent})


if __name__ == "__main__":
    main()
