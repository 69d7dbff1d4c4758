"""What somebody waits for: one sentence of a loaded model, a long output, and the first use on a machine."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

import ftor
import ftor.ops
import timing
from ftor.datasets.mirror import mirror
from ftor.model.model import Model
from output_length import trained

WORDS, LONG = 10, 250
"""Words of the sentences for the mirror model, which writes each twice."""
FIRST_USE = """
import sys, time, ftor
model = ftor.load(sys.argv[1])
begin = time.process_time()
model.predict([sys.argv[2]])
print(time.process_time() - begin)
"""


def refuse_other_outputs(model: Model, sentences: Sequence[str]) -> None:
    """Stop if one sentence at a time, a batch and plain torch do not give the same tokens."""
    together = [one.tokens for one in model.predict(sentences)]
    alone = [model.predict([sentence])[0].tokens for sentence in sentences]
    with ftor.ops.implementation("torch"):
        plain = [one.tokens for one in model.predict(sentences)]
    if not together == alone == plain:
        raise SystemExit("outputs differ between one sentence, a batch and plain torch; not measured")


def milliseconds(model: Model, sentences: Sequence[str], repeats: int, **options: bool) -> float:
    """The median processor time of one sentence. With one thread this is the time on an idle machine."""
    times = []
    for sentence in list(sentences) * (repeats + 1):
        begin = time.process_time()
        model.predict([sentence], **options)  # type: ignore[arg-type]
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times[len(sentences) :])  # the first of each are not counted


def sentence_times(model: Model, sentences: Sequence[str], repeats: int) -> dict[str, float]:
    """Milliseconds of one sentence by what is asked for."""
    ways = {"answer": (False, False), "with confidence": (True, False), "with structure": (False, True)}
    return {
        way: milliseconds(model, sentences, repeats, confidence=confidence, structure=structure)
        for way, (confidence, structure) in ways.items()
    }


def first_use(folder: Path, sentence: str) -> dict[str, float]:
    """Processor seconds of the first prediction in a new process, with and without compiled kernels."""
    command = [sys.executable, "-c", FIRST_USE, str(folder), sentence]
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        for what in ("nothing compiled", "compiled kernels on disk"):
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
            found[what] = float(done.stdout)
    return found


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments(
        "latency",
        __doc__ or "",
        model="the folder of a model; without it, a mirror model is trained",
        file="for --model: a file with a sentence at the start of each line; 20 are used",
    )
    torch.set_num_threads(1)
    model = ftor.load(options.model) if options.model else trained(options.quick)
    if options.file:
        lines = options.file.read_text("utf-8").splitlines()[:20]
        sentences = [line.split("\t")[0] for line in lines]
    else:
        sentences = [source for source, _ in mirror(3, [WORDS], seed=1)]
    refuse_other_outputs(model, sentences)
    figures: dict[str, dict[str, float]] = {
        "milliseconds of one sentence": sentence_times(model, sentences, 5 if options.quick else 30)
    }
    if not options.file and not options.quick:
        long = [source for source, _ in mirror(1, [LONG], seed=2)]
        seconds = milliseconds(model, long, 2, structure=False) / 1000
        figures["seconds of a long output"] = {f"{2 * LONG} tokens": seconds}
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        figures["seconds of the first sentence"] = first_use(Path(folder), sentences[0])
    for title, rows in figures.items():
        timing.print_table(title, ["what", "processor time"], list(rows.items()))
    timing.write_json(options.out, figures)


if __name__ == "__main__":
    main()
