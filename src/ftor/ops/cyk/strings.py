"""The best strings of a grammar, and samples of them, by the kernels or in plain Python.

Rules score 0. Scores are (B, L, T + n): column t < T is terminal t, column T + i is word i of the sentence,
which may stand wherever a token class copies.
"""

import torch
from torch import Tensor

from ftor.ops.check import check_device, check_floating, check_lengths, check_range, check_shape, check_size
from ftor.ops.cyk import naive
from ftor.ops.cyk.normal_form import NormalForm
from ftor.ops.dispatch import runs_on_kernels

__all__ = ["best_strings", "sample_strings"]


def best_strings(
    scores: Tensor, lengths: Tensor, form: NormalForm, terminals: int, n: int, strings: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The n best different strings of each row, best first.

    Args:
        scores: (B, L, T + n').
        lengths: (B,) int64, 1..L.
        form: the grammar.
        terminals: T.
        n: how many strings.
        strings: (B, T + n') int64, equal numbers for columns of the same word; all different if None.

    Returns:
        Scores (B, n), −inf where there are fewer strings, and columns (B, n, L) int64, −1 there and past
        each length.
    """
    _check(scores, lengths, terminals)
    check_size("n", n, 1)
    if strings is None:
        strings = torch.arange(scores.shape[2], device=scores.device).expand(scores.shape[0], -1)
    check_shape("strings", strings, (scores.shape[0], scores.shape[2]))
    check_device("strings", strings, "scores", scores)
    if strings.dtype != torch.int64:
        raise TypeError(f"strings: expected torch.int64, found {strings.dtype}")
    here = _for_kernels(scores)
    if runs_on_kernels(here):
        from ftor.ops.cyk import cpu  # when it first runs, because it imports numba

        compute = cpu.best_strings
    else:
        compute = naive.best_strings
    log_scores, columns = compute(here, lengths.cpu(), form, terminals, n, strings.cpu())
    return log_scores.to(scores), columns.to(scores.device)


def sample_strings(
    scores: Tensor,
    lengths: Tensor,
    form: NormalForm,
    terminals: int,
    count: int,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw `count` strings per row from P(string) ∝ exp(its score): columns (B, count, L) int64.

    −1 past each length, and everywhere in rows that have no string.
    """
    from ftor.ops.cyk import sampling  # when it first runs, because it imports numba

    _check(scores, lengths, terminals)
    check_size("count", count, 1)
    seeds = torch.randint(2**62, (scores.shape[0],), generator=generator, device=_device(generator))
    columns = sampling.sample_strings(
        _for_kernels(scores), lengths.cpu(), form, terminals, count, seeds.cpu()
    )
    return columns.to(scores.device)


def _for_kernels(scores: Tensor) -> Tensor:
    """On the CPU, where charts are made whatever the device, and in no less than single precision."""
    here = scores.detach().cpu()
    return here if here.dtype in (torch.float32, torch.float64) else here.float()


def _device(generator: torch.Generator | None) -> torch.device:
    return torch.device("cpu") if generator is None else generator.device


def _check(scores: Tensor, lengths: Tensor, terminals: int) -> None:
    check_shape("scores", scores, ("B", "L", "T + n"))
    check_floating("scores", scores)
    if scores.shape[2] < terminals:
        raise ValueError(
            f"scores: expected at least {terminals} columns (one per terminal), found {scores.shape[2]}"
        )
    check_lengths("lengths", lengths, "scores", scores)
    check_range("lengths", lengths, 1, scores.shape[1])
