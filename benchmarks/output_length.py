"""Processor seconds that a trained mirror model takes for one sentence at a time, by output length."""

import statistics
import tempfile
import time
from pathlib import Path

import torch

import ftor
from ftor.config import Config
from ftor.datasets.mirror import mirror
from ftor.files import append_json_line
from ftor.lab.ledger import TIME_BY_LENGTH
from ftor.model.model import Model
from ftor.show.progress import Report
from ftor.training.provenance import commit, machine
from ftor.training.run import Run
from timing import arguments, fitted_exponent, print_records, progress, write_json

LENGTHS = (10, 20, 30, 40, 60, 80, 100, 120, 140, 160, 180, 200)


def trained(quick: bool) -> Model:
    """A new model of the experiment `mirror`; after one epoch it knows how long its outputs are."""
    config = Config.load("mirror", ["training.epochs=1"] if quick else [])
    with tempfile.TemporaryDirectory() as folder:
        Run.new(config, Path(folder) / "run").train(None, Report(), None)
        return ftor.load(Path(folder) / "run")


def seconds(model: Model, length: int, repeats: int) -> float:
    """The median over sentences with outputs of this length; stop if an output has another one.

    Of each sentence the fastest of several calls counts: what others do on the machine only adds to it.
    """
    sentences = [source for source, _ in mirror(3, [length // 2], seed=length)]
    found = model.predict(sentences, batch_size=1, structure=False)
    lengths = sorted({prediction.length for prediction in found})
    if lengths != [length]:
        raise SystemExit(f"output_length: expected outputs of length {length}, found {lengths}; no figures")
    return statistics.median(min(once(model, s) for _ in range(repeats)) for s in sentences)


def once(model: Model, sentence: str) -> float:
    """The processor time that predicting takes with one thread: the wall clock of a machine of one's own."""
    begin = time.process_time()
    model.predict([sentence], structure=False)
    return time.process_time() - begin


def main() -> None:
    """Measure, print and write."""
    chosen = arguments(
        "output_length",
        __doc__ or "",
        model="the folder of a mirror model; trained now if not given",
        ledger="a JSONL file to add the times to, results/time-by-length.jsonl say",
    )
    torch.set_num_threads(1)
    model = ftor.load(chosen.model) if chosen.model else trained(chosen.quick)
    times = []
    for length in LENGTHS[:3] if chosen.quick else LENGTHS:
        progress(f"length {length}")
        times.append({"length": length, "seconds": seconds(model, length, 2 if chosen.quick else 4)})
    print_records("processor seconds per sentence, one at a time", times)
    long = [each for each in times if each["length"] >= times[-1]["length"] / 2]
    exponent = fitted_exponent([each["length"] for each in long], [each["seconds"] for each in long])
    print(f"\nthe longer half: proportional to length^{exponent:.1f}")
    write_json(chosen.out, {"exponent": exponent, "times": times})
    if chosen.ledger:
        config = model.config
        what = {"kind": TIME_BY_LENGTH, "experiment": config.name, "seed": config.training.seed}
        append_json_line(
            chosen.ledger, {**what, "config": config.hash, "commit": commit(), "times": times, **machine()}
        )


if __name__ == "__main__":
    main()
