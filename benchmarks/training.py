"""Speed of training and prediction on the mirror task at the paper's sizes, and where a step's time goes."""

import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

import ftor.ops
from ftor.config import Config
from ftor.datasets import mirror
from ftor.files import read_json_lines
from ftor.model.model import Model
from ftor.networks.transducer import Transducer
from ftor.show.progress import Report
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair, write_pairs
from ftor.text.tokenizing import tokenize
from ftor.training.run import Run
from timing import arguments, largest_difference, print_records, progress, refuse_unless_equal, write_json

ALLOWED_DIFFERENCE = 1e-3  # float32, relative to the norm of each tensor
EXPERIMENTS = ("mirror", "mirror-rf", "mirror-ar", "mirror-ar-rf")
PARTS = {  # which operations, by the beginnings of their names, are which part of a step
    "matrix products": ("aten::mm", "aten::bmm", "aten::addmm", "aten::linear"),
    "recurrence": ("ftor::highway_lstm", "GeneratedBackwardFor_ftor_highway"),
    "span scorer": ("ftor::span_scores", "GeneratedBackwardFor_ftor_span_scores"),
    "reordering trees": ("ftor::tree", "GeneratedBackwardFor_ftor_tree"),
    "fertility": ("ftor::fertility", "GeneratedBackwardFor_ftor_fertility"),
    "optimiser": ("Optimizer", "aten::_fused_adam", "aten::_foreach"),
}


def pairs_of(size: int, lengths: Iterable[int]) -> list[Pair]:
    """Mirror pairs whose sources have such lengths."""
    drawn = mirror.mirror(size, list(lengths), seed=1)
    return [Pair(tokenize(source), tokenize(target), line) for line, (source, target) in enumerate(drawn, 1)]


def check_agreement() -> float:
    """The loss and all gradients of one batch by kernels and by plain torch must be the same."""
    torch.manual_seed(0)
    config = Config.load("mirror")
    pairs = pairs_of(64, range(3, 10))
    model = Model.new(config, pairs)
    model.network.eval()
    batch = EncodedPairs(pairs, model.vocabularies).batch(torch.arange(64))

    def outputs() -> list[Tensor]:
        losses = model.network(batch)
        parameters = list(model.network.parameters())
        gradients = torch.autograd.grad((losses.tokens + losses.length).mean(), parameters)
        return [losses.tokens.detach(), losses.length.detach(), *gradients]

    found = outputs()
    with ftor.ops.implementation("torch"):
        expected = outputs()
    difference = largest_difference(found, expected)
    refuse_unless_equal("a training step", difference, ALLOWED_DIFFERENCE)
    return difference


def epochs(name: str, pairs: list[Pair], count: int) -> Iterator[float]:
    """Seconds of each epoch of `ftor train`, without evaluation."""
    with tempfile.TemporaryDirectory() as folder:
        train, dev = Path(folder) / "train.tsv", Path(folder) / "dev.tsv"
        rows = [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]
        write_pairs(rows, train)
        write_pairs(rows[:8], dev)
        config = Config.load(name, [f"training.epochs={count}"])
        data = config.data.model_copy(update={"train": str(train), "dev": str(dev), "test": None})
        config = config.model_copy(update={"data": data})
        Run.new(config, Path(folder) / "run").train(None, Report(quiet=True), None)
        for record in read_json_lines(Path(folder) / "run" / "log.jsonl"):
            yield len(pairs) / record["examples_per_second"]


def whole_epochs(quick: bool) -> list[dict[str, object]]:
    """The time of an epoch over 4000 pairs of lengths 3 to 9, of every structured model."""
    pairs, rows = pairs_of(4000, range(3, 10)), []
    for name in EXPERIMENTS[:1] if quick else EXPERIMENTS:
        progress(f"training {name}")
        _, *seconds = epochs(name, pairs, 3 if quick else 5)  # the first compiles, or reads what was compiled
        middle = sorted(seconds)[len(seconds) // 2]
        rows.append({"experiment": name, "s_per_epoch": middle, "examples_per_s": len(pairs) / middle})
    return rows


def by_length(lengths: Iterable[int]) -> list[dict[str, object]]:
    """Examples per second of training and predicting at one length; the output is twice as long."""
    rows: list[dict[str, object]] = []
    for length in lengths:
        progress(f"length {length}")
        pairs = pairs_of(max(64, min(640, 6400 // length)), [length])
        seconds = min(epochs("mirror", pairs, 3))
        torch.manual_seed(0)
        model = Model.new(Config.load("mirror"), pairs)
        _only_the_right_length(model)
        sources = [pair.source for pair in pairs]
        model.predict(sources[:2], structure=False)
        begin = time.perf_counter()
        model.predict(sources, structure=False)
        predicting = time.perf_counter() - begin
        rows.append(
            {"length": length, "train_per_s": len(pairs) / seconds, "predict_per_s": len(pairs) / predicting}
        )
    return rows


def _only_the_right_length(model: Model) -> None:
    """Make every fertility 2, so that an untrained model predicts outputs of the length of the gold ones."""
    assert isinstance(model.network, Transducer)
    last = model.network.fertility.mlp[-1]
    assert isinstance(last, torch.nn.Linear)
    with torch.no_grad():
        last.bias.fill_(-50)
        last.bias[2] = 50


def parts_of_a_step() -> list[dict[str, object]]:
    """The share of each kind of operation in an epoch of F→R."""
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
    options = arguments("training", __doc__ or "")
    difference = check_agreement()
    figures = {
        "epochs": whole_epochs(options.quick),
        "by_length": by_length((5, 10) if options.quick else (5, 10, 20, 50, 100)),
        "parts": parts_of_a_step(),
    }
    for title, records in figures.items():
        print_records(title, records)
    write_json(options.out, {"difference": difference, **figures})


if __name__ == "__main__":
    main()
