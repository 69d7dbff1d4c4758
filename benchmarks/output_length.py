"""Seconds per sentence of predicting with a trained mirror model, one at a time, by output length."""

import tempfile
from pathlib import Path

import torch

import ftor
from ftor.config import Config
from ftor.ledger import append, commit, machine
from ftor.predict import Model
from ftor.progress import Report
from ftor.results.ledgers import TIME_BY_LENGTH
from ftor.run import Run
from ftor.tasks.mirror import mirror
from timing import arguments, fitted_exponent, median_seconds, print_records, progress, write_json

LENGTHS = (10, 20, 30, 40, 60, 80, 100, 120, 140, 160, 180, 200)


def trained(quick: bool) -> Model:
    """A new model of the experiment `mirror`; after one epoch it knows how long its outputs are."""
    config = Config.load("mirror", ["training.epochs=1"] if quick else [])
    with tempfile.TemporaryDirectory() as folder:
        Run.new(config, Path(folder) / "run").train(None, Report(), None)
        return ftor.load(Path(folder) / "run")


def seconds(model: Model, length: int, repeats: int) -> float:
    """The median over sentences with outputs of this length; stop if an output has another one."""
    sentences = [source for source, _ in mirror(5, [length // 2], seed=length)]
    found = model.predict(sentences, batch_size=1, structure=False)
    lengths = sorted({prediction.length for prediction in found})
    if lengths != [length]:
        raise SystemExit(f"output_length: expected outputs of length {length}, found {lengths}; no figures")
    calls = {s: lambda s=s: model.predict([s], structure=False) for s in sentences}
    times = sorted(median_seconds(calls, repeats).values())
    return times[len(times) // 2]


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
        times.append({"length": length, "seconds": seconds(model, length, 1 if chosen.quick else 5)})
    print_records("seconds per sentence, one at a time", times)
    long = [time for time in times if time["length"] >= times[-1]["length"] / 2]
    exponent = fitted_exponent([time["length"] for time in long], [time["seconds"] for time in long])
    print(f"\nthe longer half: proportional to length^{exponent:.1f}")
    write_json(chosen.out, {"exponent": exponent, "times": times})
    if chosen.ledger:
        config = model.config
        what = {"kind": TIME_BY_LENGTH, "experiment": config.name, "seed": config.training.seed}
        append(
            chosen.ledger, {**what, "config": config.hash, "commit": commit(), "times": times, **machine()}
        )


if __name__ == "__main__":
    main()
