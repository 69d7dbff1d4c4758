"""`ftor data trivial`."""

from typing import Annotated, Literal

import typer

from ftor.cli.options import DataDir, Experiment, Ledger
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def trivial(
    experiment: Experiment,
    split: Annotated[Literal["train", "dev", "test"], typer.Option(help="Which pairs.")] = "test",
    data_dir: DataDir = None,
    ledger: Ledger = None,
) -> None:
    """Evaluate two outputs without a model: the input, and the input without its last word."""
    from ftor.config import Config  # here for start-up time
    from ftor.datasets.folders import require_file
    from ftor.lab.ledger import append
    from ftor.lab.trivial import evaluate_trivial
    from ftor.show.metrics import summary
    from ftor.text.reading import read_pairs
    from ftor.training.provenance import commit, machine

    data = Config.load(experiment).data
    name = {"train": data.train, "dev": data.dev, "test": data.test}[split]
    if name is None:
        raise typer.BadParameter(f"{experiment} has no {split} pairs", param_hint="--split")
    path = require_file(name, data_dir, f"data.{split}", "published files: ftor data fetch")
    pairs = read_pairs(path, data.source_tokenizer, data.target_tokenizer, data.emphasis)
    for output, metrics in evaluate_trivial(data.task, pairs, data_dir, TerminalReport()).items():
        show(f"{output}:")
        show(summary(metrics))
        if ledger is not None:
            record = {"experiment": output, "seed": 0, "file": name, "commit": commit()}
            append(ledger, record | {"metrics": metrics.as_dict()} | machine())
