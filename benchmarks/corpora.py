"""Lines per second of `ftor predict` with one process and with two. Their outputs must be the same."""

import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import timing
from ftor.jobs.corpora import Request
from ftor.jobs.corpora.chunks import read_chunks
from ftor.jobs.corpora.processes import predict_in_processes
from ftor.reporting import SILENT

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


def measured(model: Path, lines: Path, jobs: int) -> tuple[float, str]:
    """Lines per second of one run, without its first quarter, in which processes start, and its output."""
    request, output = Request((str(model),)), hashlib.sha256()
    chunks = list(read_chunks([lines], "text", SILENT))
    warm, counted, begin = len(chunks) // 4, 0, 0.0
    for number, (chunk, answers) in enumerate(predict_in_processes(request, jobs, iter(chunks))):
        output.update("\n".join(answers.records).encode())
        counted += len(chunk.texts) * (number > warm)
        begin = time.perf_counter() if number == warm else begin
    return counted / (time.perf_counter() - begin), output.hexdigest()


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("corpora", __doc__ or "", model="a model folder instead of a small new one")
    count, turns = (4_000, 1) if options.quick else (20_000, 3)
    rates: dict[int, list[float]] = {jobs: [] for jobs in JOBS}
    outputs: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        model = options.model or train(Path(name))
        write_lines(Path(name) / "lines.txt", count)
        for turn in range(turns):
            for jobs in JOBS:
                timing.progress(f"turn {turn + 1} of {turns}: {jobs} jobs")
                rate, output = measured(model, Path(name) / "lines.txt", jobs)
                rates[jobs].append(rate)
                outputs.add(output)
    if len(outputs) > 1:
        raise SystemExit("the outputs differ; not measured")
    rows = [{"jobs": jobs, "lines": count, "lines_per_s": median(rates[jobs])} for jobs in JOBS]
    timing.print_records("corpora", rows)
    timing.write_json(options.out, {"corpora": rows})


if __name__ == "__main__":
    main()
