"""Compile the kernels for every x86-64 processor with AVX2 and FMA, for a wheel to bring.

    python .ci/kernels.py FOLDER

What is compiled is what models call, in single precision. It works with this version of Python, numba and
llvmlite, on this operating system. numba compiles the rest when it is first used.
"""

import os
import platform
import sys
import tempfile
from pathlib import Path

import torch

import ftor
from ftor.grammar import Grammar
from ftor.ops.cyk.strings import best_strings, sample_strings
from ftor.ops.recurrence import highway_lstm
from ftor.ops.span_scores import difference_scores, span_scores

PROCESSOR = "x86-64-v3"
FEATURES = (
    "64bit avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf "
    "sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave"
)


def main() -> None:
    """Compile and write."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        print("no kernels are compiled: this is no x86-64 processor")
        return
    with tempfile.TemporaryDirectory() as empty:
        os.environ |= {  # numba reads them when it is imported, by the first kernel
            "NUMBA_CPU_NAME": PROCESSOR,
            "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in FEATURES.split()),
            "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that other machines may not have
            "NUMBA_CACHE_DIR": empty,
        }
        compile_into(Path(sys.argv[1]))


def compile_into(folder: Path) -> None:
    """Call every kernel with all types that models call it with, and write what was compiled."""
    for use in (use_fertility, use_permutation, use_span_scores, use_recurrence, use_grammar):
        use()
    from ftor.ops.precompiled import kernels, write_archive

    unused = [kernel.py_func.__qualname__ for kernel in kernels if not kernel.overloads]
    if unused:
        raise SystemExit(f"not compiled, because nothing here calls them: {', '.join(unused)}")
    versions = sum(len(kernel.overloads) for kernel in kernels)
    path = write_archive(folder)
    print(f"{path.name}: {versions} versions of {len(kernels)} kernels, {path.stat().st_size / 1e6:.1f} MB")


def use_fertility() -> None:
    """Sums of fertilities, copies, the best ones and samples."""
    fertility = ftor.Fertility(torch.randn(2, 3, 4, requires_grad=True))
    lengths = torch.tensor([3, 4])
    given = fertility.given(lengths)
    (fertility.log_prob_length(lengths).sum() + given.marginals.square().sum()).backward()
    assert len(given.argmax) == len(given.sample()) == 2


def use_permutation() -> None:
    """Trees: their sum, marginals, entropy, the best one and samples."""
    scores = torch.randn(2, 5, 5, 5, 2, requires_grad=True)
    trees = ftor.SeparablePermutation(scores, torch.tensor([4, 3]))
    (trees.log_partition.sum() + trees.marginals.square().sum() + trees.entropy.sum()).backward()
    assert len(trees.argmax.trees) == len(trees.sample().trees) == 2


def use_span_scores() -> None:
    """Both forms of the scorer, with and without dropout."""
    start, split, end = (torch.randn(2, 5, 8, requires_grad=True) for _ in range(3))
    shift, weight, bias = torch.randn(8), torch.randn(2, 8), torch.randn(2)
    lengths = torch.tensor([4, 3])
    for dropout in (0.0, 0.1):
        span_scores(start, split, end, weight, bias, lengths, dropout).sum().backward()
        difference_scores(start, end, shift, weight, bias, lengths, dropout).sum().backward()


def use_recurrence() -> None:
    """The highway LSTM."""
    projected = torch.randn(2, 3, 2, 48, requires_grad=True)
    weight, bias = torch.randn(2, 40, 8), torch.randn(2, 40)
    highway_lstm(projected, weight, bias, torch.tensor([3, 2])).sum().backward()


def use_grammar() -> None:
    """The best strings of a grammar, and samples."""
    arguments = torch.zeros(1, 2, 1), torch.tensor([2]), Grammar.parse("S -> 'a' | 'a' S").normal_form, 1, 1
    best_strings(*arguments)
    sample_strings(*arguments)


if __name__ == "__main__":
    main()
