"""Speed of training and prediction on the mirror task at the paper's sizes, and where a step's time goes."""

import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

import timing
from ftor.config import Config
from ftor.datasets import mirror
from ftor.files import read_json_lines
from ftor.model.model import Model
from ftor.reporting import SILENT
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair, write_pairs
from ftor.text.tokenizing import tokenize
from ftor.training.run import Run

EXPERIMENTS = ("mirror", "mirror-rf", "mirror-ar", "mirror-ar-rf")
PARTS = {  # prefixes of the names of the operations that belong to each part of a step
    "matrix products": ("aten::mm", "aten::bmm", "aten::addmm", "aten::linear"),
    "recurrence": ("ftor::highway_lstm", "GeneratedBackwardFor_ftor_highway"),
    "span scorer": ("ftor::span_scores", "GeneratedBackwardFor_ftor_span_scores"),
    "reordering trees": ("ftor::tree", "GeneratedBackwardFor_ftor_tree"),
    "fertility": ("ftor::fertility", "GeneratedBackwardFor_ftor_fertility"),
    "optimiser": ("Optimizer", "aten::_fused_adam", "aten::_foreach"),
}


def pairs_of(size: int, lengths: Iterable[int]) -> list[Pair]:
    """Generate mirror pairs with these source lengths."""
    drawn = mirror.mirror(size, list(lengths), seed=1)
    return [Pair(tokenize(source), tokenize(target), line) for line, (source, target) in enumerate(drawn, 1)]


def check_agreement() -> float:
    """Check that kernels and plain torch give the same loss and gradients on one batch."""
    torch.manual_seed(0)
    config = Config.load("mirror")
    pairs = pairs_of(64, range(3, 10))
    model = Model.new(config, pairs)
    model.network.eval()
    batch = EncodedPairs(pairs, model.vocabularies).batch(torch.arange(64))
    return timing.refuse_other_steps("a training step", model.network, batch)


def epochs(name: str, pairs: list[Pair], count: int) -> Iterator[float]:
    """Train, and give the seconds of each epoch without evaluation."""
    with tempfile.TemporaryDirectory() as folder:
        train, dev = Path(folder) / "train.tsv", Path(folder) / "dev.tsv"
        rows = [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]
        write_pairs(rows, train)
        write_pairs(rows[:8], dev)
        config = Config.load(name, [f"training.epochs={count}"])
        data = config.data.model_copy(update={"train": str(train), "dev": str(dev), "test": None})
        config = config.model_copy(update={"data": data})
        Run.new(config, Path(folder) / "run").train(None, SILENT, threads=torch.get_num_threads())
        for record in read_json_lines(Path(folder) / "run" / "log.jsonl"):
            yield len(pairs) / record["examples_per_second"]


def epoch_times(quick: bool) -> list[dict[str, object]]:
    """Measure an epoch over 4000 pairs of lengths 3 to 9 for every structured model."""
    pairs, rows = pairs_of(4000, range(3, 10)), []
    for name in EXPERIMENTS[:1] if quick else EXPERIMENTS:
        timing.progress(f"training {name}")
        _, *seconds = epochs(name, pairs, 3 if quick else 5)  # the first loads or compiles the kernels
        middle = sorted(seconds)[len(seconds) // 2]
        rows.append({"experiment": name, "s_per_epoch": middle, "examples_per_s": len(pairs) / middle})
    return rows


def by_length(lengths: Iterable[int]) -> list[dict[str, object]]:
    """Measure examples per second by source length, in training and prediction. Outputs are twice as long."""
    rows: list[dict[str, object]] = []
    for length in lengths:
        timing.progress(f"length {length}")
        pairs = pairs_of(max(64, min(640, 6400 // length)), [length])
        seconds = min(epochs("mirror", pairs, 3))
        torch.manual_seed(0)
        model = Model.new(Config.load("mirror"), pairs)
        timing.fix_fertility(model, 2)
        sources = [pair.source for pair in pairs]
        model.predict(sources[:2], structure=False)
        begin = time.perf_counter()
        model.predict(sources, structure=False)
        predicting = time.perf_counter() - begin
        rows.append(
            {"length": length, "train_per_s": len(pairs) / seconds, "predict_per_s": len(pairs) / predicting}
        )
    return rows


def parts_of_a_step() -> list[dict[str, object]]:
    """Measure the share of each kind of operation in an epoch of F→R."""
    pairs = pairs_of(4000, range(3, 10))
    list(epochs("mirror", pairs[:64], 1))
    with profile(activities=[ProfilerActivity.CPU]) as measured:
        list(epochs("mirror", pairs, 1))
    seconds = dict.fromkeys([*PARTS, "all others"], 0.0)
    for event in measured.key_averages():
        part = next((part for part, names in PARTS.items() if event.key.startswith(names)), "all others")
        seconds[part] += event.self_cpu_time_total / 1e6
    total = sum(seconds.values())
    return [{"part": part, "s": value, "percent": 100 * value / total} for part, value in seconds.items()]


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("training", __doc__ or "")
    difference = check_agreement()
    figures = {
        "epochs": epoch_times(options.quick),
        "by_length": by_length((5, 10) if options.quick else (5, 10, 20, 50, 100)),
        "parts": parts_of_a_step(),
    }
    for title, records in figures.items():
        timing.print_records(title, records)
    timing.write_json(options.out, {"difference": difference, **figures})


if __name__ == "__main__":
    main()
