"""Processor time of a trained mirror model per sentence, by output length."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch

import ftor
import timing
from ftor.config import Config
from ftor.datasets.mirror import mirror
from ftor.lab.ledger import append
from ftor.lab.lines import TIME_BY_LENGTH
from ftor.model.model import Model
from ftor.reporting import LineReport
from ftor.training.provenance import commit, machine
from ftor.training.run import Run

LENGTHS = (10, 20, 30, 40, 60, 80, 100, 120, 140, 160, 180, 200)


def trained(name: str, epochs: int | None = None) -> Model:
    """Train an experiment. After one epoch of `mirror` the output lengths are right."""
    config = Config.load(name, [] if epochs is None else [f"training.epochs={epochs}"])
    with tempfile.TemporaryDirectory() as folder:
        Run.new(config, Path(folder) / "run").train(None, LineReport(sys.stderr), threads=1)
        return ftor.load(Path(folder) / "run")


def seconds(model: Model, length: int, repeats: int) -> float:
    """Measure sentences with outputs of this length, one at a time: the median of the fastest calls of each.

    Stops if an output has another length.
    """
    sentences = [source for source, _ in mirror(3, [length // 2], seed=length)]
    predictions = model.predict(sentences, batch_size=1, structure=False)
    lengths = sorted({prediction.length for prediction in predictions})
    if lengths != [length]:
        raise SystemExit(f"expected outputs of length {length}, found {lengths}: train the model longer")
    return statistics.median(min(once(model, s) for _ in range(repeats)) for s in sentences)


def once(model: Model, sentence: str) -> float:
    """Measure the processor time of one prediction. With one thread this is the time on an idle machine."""
    begin = time.process_time()
    model.predict([sentence], structure=False)
    return time.process_time() - begin


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments(
        "output_length",
        __doc__ or "",
        model="the folder of a mirror model; without it, one is trained",
        ledger="a JSONL file to append the times to, such as results/time-by-length.jsonl",
    )
    torch.set_num_threads(1)
    model = ftor.load(options.model) if options.model else trained("mirror", 1 if options.quick else None)
    times = []
    for length in LENGTHS[:3] if options.quick else LENGTHS:
        timing.progress(f"length {length}")
        times.append({"length": length, "seconds": seconds(model, length, 2 if options.quick else 4)})
    timing.print_records("processor seconds per sentence, one at a time", times)
    long = [each for each in times if each["length"] >= times[-1]["length"] / 2]
    exponent = timing.fitted_exponent([each["length"] for each in long], [each["seconds"] for each in long])
    print(f"\nfor the longer half: time ∝ length^{exponent:.1f}")
    timing.write_json(options.out, {"exponent": exponent, "times": times})
    if options.ledger:
        config = model.config
        what = {"kind": TIME_BY_LENGTH, "experiment": config.name, "seed": config.training.seed}
        append(
            options.ledger, {**what, "config": config.hash, "commit": commit(), "times": times, **machine()}
        )


if __name__ == "__main__":
    main()
