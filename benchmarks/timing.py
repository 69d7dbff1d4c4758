"""What benchmarks share: median times, peak memory, fitted exponents, tables, JSON and untrained models."""

import argparse
import ctypes
import importlib
import json
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

import ftor.ops
from ftor.model.model import Model
from ftor.networks import Network
from ftor.networks.transducer import Transducer
from ftor.text.batches import Batch

ROOT = Path(__file__).resolve().parent.parent
ALLOWED_DIFFERENCE = 1e-3
"""Between two implementations of a training step in float32, relative to the norm of each tensor."""

Call = Callable[[], object]


def arguments(name: str, description: str, repeatable: Sequence[str] = (), **more: str) -> argparse.Namespace:
    """Read the options that all benchmarks have, --quick and --out, and more options for paths.

    Args:
        name: of the benchmark's file.
        description: for --help.
        repeatable: names of options that may be given several times.
        more: help texts of further options by name.
    """
    parser = argparse.ArgumentParser(
        description=description, epilog=f"example: python benchmarks/{name}.py --quick"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer repetitions")
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "benchmarks" / "out" / f"{name}.json",
        metavar="FILE.json",
        help=f"where the figures go (default: benchmarks/out/{name}.json)",
    )
    for option, text in more.items():
        many = {"action": "append", "default": []} if option in repeatable else {}
        parser.add_argument(f"--{option}", type=Path, help=text, **many)  # type: ignore[arg-type]
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    if busy > 0.5:
        progress(f"warning: the machine is busy (load {busy:.1f}): times and ratios are not reliable")
    return options


def from_tests(module: str) -> ModuleType:
    """Import a module of the tests, where the slow reference implementations are."""
    tests = str(ROOT / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    return importlib.import_module(module)


def progress(message: str) -> None:
    """Print on stderr what is being measured."""
    print(message, file=sys.stderr, flush=True)


def median_seconds(calls: Mapping[str, Call], repeats: int, turn: float = 0.1) -> dict[str, float]:
    """Measure the median seconds of each call, after one call that is not counted.

    The calls take turns, so that a busy moment of the machine affects all of them. A turn lasts at least
    `turn` seconds, because the first of several short calls finds cold caches and busy threads.
    """
    for call in calls.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            begin = now = time.perf_counter()
            while now < begin + turn:
                before = now
                call()
                now = time.perf_counter()
                seconds[name].append(now - before)
    return {name: statistics.median(values) for name, values in seconds.items()}


def peak_megabytes(prepare: Callable[..., Call], warm_up: Sequence[Any], case: Sequence[Any]) -> float:
    """Measure by how many megabytes one call raises the peak resident memory of a new process.

    Args:
        prepare: a module-level function that makes the inputs of a case and returns the call.
        warm_up: a small case that is run first, so that loading libraries and kernels does not count.
        case: the case to measure.
    """
    return peaks_megabytes(prepare, warm_up, [case])[0]


def peaks_megabytes(
    prepare: Callable[..., Call], warm_up: Sequence[Any], cases: Sequence[Sequence[Any]]
) -> list[float]:
    """Measure several cases in one new process, which starts in seconds. See `peak_megabytes`."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    every = [tuple(case) for case in cases]
    process = context.Process(target=_measure, args=(sender, prepare, tuple(warm_up), every))
    process.start()
    sender.close()
    try:
        megabytes: list[float] = receiver.recv()
    except EOFError:
        raise SystemExit(
            f"{prepare.__name__}{every[-1]}: the process was killed, perhaps for lack of memory"
        ) from None
    finally:
        process.join()
    return megabytes


def _measure(
    sender: Any, prepare: Callable[..., Call], warm_up: tuple[Any, ...], cases: Sequence[tuple[Any, ...]]
) -> None:
    prepare(*warm_up)()
    found = []
    for case in cases:
        call = prepare(*case)
        _give_back_freed_memory()
        _forget_peak()
        before = _status_megabytes("VmRSS")
        call()
        found.append(_status_megabytes("VmHWM") - before)
    sender.send(found)


def _give_back_freed_memory() -> None:
    """Return what earlier cases freed, or its use would not count. Only glibc can do this."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        return


def _forget_peak() -> None:
    """Reset the recorded peak to the present use. Only Linux can do this."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _status_megabytes(field: str) -> float:
    """Read the resident memory now (VmRSS) or at its peak (VmHWM).

    On Linux, getrusage gives a child the peak of its parent, so /proc is read there.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1e6 if sys.platform == "darwin" else 1e3)
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024 / 1e6


def fitted_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Fit x in cost ∝ size^x: least squares on the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def largest_difference(actual: Sequence[Tensor], expected: Sequence[Tensor]) -> float:
    """Compute the largest ‖actual − expected‖ / ‖expected‖ of several tensors.

    Norms are compared instead of entries. In single precision, rounding can switch a hidden unit near 0 on in
    one implementation and off in the other. This changes one row of a gradient and is no error.
    """
    return max(
        float((ours - theirs).norm() / theirs.norm()) for ours, theirs in zip(actual, expected, strict=True)
    )


def refuse_unless_equal(name: str, difference: float, allowed: float) -> None:
    """Stop before any time is printed if the numbers differ."""
    if not difference <= allowed:  # also true of NaN
        raise SystemExit(
            f"{name}: outputs or gradients differ by {difference:.2e}, allowed {allowed:.0e}; not measured"
        )


def refuse_other_steps(name: str, network: Network, batch: Batch) -> float:
    """Stop if kernels and plain torch do not give the same losses and gradients. Returns how they differ.

    The network is compared as it is, in training with dropout: both draw the same masks.
    """

    def outputs() -> list[Tensor]:
        torch.manual_seed(0)
        losses = network(batch)
        parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        gradients = torch.autograd.grad((losses.tokens + losses.length).mean(), parameters)
        return [losses.tokens.detach(), losses.length.detach(), *gradients]

    actual = outputs()
    with ftor.ops.implementation("torch"):
        expected = outputs()
    difference = largest_difference(actual, expected)
    refuse_unless_equal(name, difference, ALLOWED_DIFFERENCE)
    return difference


def fix_fertility(model: Model, fertility: int) -> None:
    """Give every source token this fertility, so that the output lengths of an untrained model are known."""
    assert isinstance(model.network, Transducer)
    last = model.network.fertility.mlp[-1]
    assert isinstance(last, torch.nn.Linear)
    with torch.no_grad():
        last.bias.fill_(-50)
        last.bias[fertility] = 50


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table with right-aligned columns; floats get three significant digits."""
    cells = [list(header), *[[_cell(value) for value in row] for row in rows]]
    widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
    print(f"\n{title}")
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def print_records(title: str, records: Sequence[Mapping[str, object]]) -> None:
    """Print records with the same keys as a table."""
    print_table(title, list(records[0]), [list(record.values()) for record in records])


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def write_json(path: Path, figures: Mapping[str, Any]) -> None:
    """Write the figures and a description of the machine."""
    record = {"machine": _machine(), **figures}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    print(f"\nwritten to {path}")


def _machine() -> dict[str, str | int | float]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "load_average": os.getloadavg()[0],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
