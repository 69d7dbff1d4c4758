"""Lines per second of `ftor predict --input` with one process and with two, whose outputs must be the same."""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import timing

JOBS = (1, 2)
LETTERS = "abcdefghijk"
SETTINGS = {"model.width": 32, "model.scorer_hidden": 64, "training.epochs": 1}


def ftor(*arguments: object) -> None:
    """Run `ftor` in a process of its own, and stop if it fails."""
    command = [sys.executable, "-m", "ftor", *map(str, arguments)]
    variables = os.environ | {"OMP_NUM_THREADS": "1"}
    finished = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if finished.returncode:
        raise SystemExit(finished.stderr)


def write_lines(path: Path, count: int) -> None:
    """Write sentences of two to six letters."""
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(rng.choices(LETTERS, k=rng.randint(2, 6))) + "\n" for _ in range(count))


def train(folder: Path) -> Path:
    """Train a small model on pairs of a few letters."""
    rng = random.Random(1)
    letters = [rng.choices(LETTERS, k=rng.randint(2, 4)) for _ in range(50)]
    pairs = folder / "pairs.tsv"
    pairs.write_text(
        "".join(f"{' '.join(some)}\t{' '.join(some + some[::-1])}\n" for some in letters), "utf-8"
    )
    settings = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={value}")]
    ftor("train", "transducer", "--train", pairs, "--dev", pairs, "--out", folder / "model", *settings)
    return folder / "model"


def seconds(model: Path, lines: Path, jobs: int, out: Path) -> float:
    """Measure one run of the command, with its start."""
    begin = time.perf_counter()
    ftor("predict", model, "--input", lines, "--output", out, "--jobs", jobs)
    return time.perf_counter() - begin


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("corpora", __doc__ or "", model="a model folder instead of a small new one")
    count, short = (2_000, 256) if options.quick else (20_000, 256)
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = options.model or train(folder)
        for lines, size in (("long", count), ("short", short)):
            write_lines(folder / f"{lines}.txt", size)
        for jobs in JOBS:
            timing.progress(f"{jobs} jobs")
            outputs = folder / f"short-{jobs}.jsonl", folder / f"long-{jobs}.jsonl"
            start = seconds(model, folder / "short.txt", jobs, outputs[0])
            whole = seconds(model, folder / "long.txt", jobs, outputs[1])
            per_second = (count - short) / (whole - start)
            rows.append({"jobs": jobs, "lines": count, "seconds": whole, "lines_per_s": per_second})
        if any((folder / f"long-{jobs}.jsonl").read_bytes() != outputs[1].read_bytes() for jobs in JOBS):
            raise SystemExit("the outputs differ; not measured")
    timing.print_records("corpora (lines per second without the start of the command)", rows)
    timing.write_json(options.out, {"corpora": rows})


if __name__ == "__main__":
    main()
