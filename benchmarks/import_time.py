"""Processor time of `import ftor.nn`, and of the first training step with and without compiled kernels."""

import os
import statistics
import subprocess
import sys
import tempfile

import timing

IMPORT = """
import time{before}
begin = time.process_time()
import {module}
print(time.process_time() - begin)
"""

FIRST_STEP = """
import time, torch, ftor, ftor.nn
lengths = torch.tensor([5, 3])
layer = ftor.nn.ReorderingLayer(8)
logits = torch.randn(2, 4, 4, requires_grad=True)
x = torch.randn(2, 5, 8, requires_grad=True)
begin = time.process_time()
fertility = ftor.Fertility(logits)
loss = layer(x, lengths).marginals.square().sum()
loss = loss + fertility.given(lengths).marginals.square().sum() - fertility.log_prob_length(lengths).sum()
loss.backward()
print(time.process_time() - begin)
"""


def seconds(program: str, **environment: str) -> float:
    """Run a program in a new interpreter and read the seconds that it prints."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True
    )
    return float(done.stdout)


def median(program: str, repeats: int) -> float:
    """Take the median over new interpreters, after one that fills the caches."""
    seconds(program)
    return statistics.median(seconds(program) for _ in range(repeats))


def cold_first_step() -> float:
    """Measure the first step after installation, when every kernel is compiled."""
    with tempfile.TemporaryDirectory() as empty:
        return seconds(FIRST_STEP, NUMBA_CACHE_DIR=empty)


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("import_time", __doc__ or "")
    repeats = 2 if options.quick else 5
    figures = {
        "import torch": median(IMPORT.format(before="", module="torch"), repeats),
        "import ftor.nn, after torch": median(IMPORT.format(before=", torch", module="ftor.nn"), repeats),
        "first step, compiled kernels on disk": median(FIRST_STEP, repeats),
        "first step, nothing compiled": cold_first_step(),
    }
    timing.print_table("processor seconds, each in a new process", ["what", "seconds"], list(figures.items()))
    timing.write_json(options.out, {"seconds": figures})


if __name__ == "__main__":
    main()
