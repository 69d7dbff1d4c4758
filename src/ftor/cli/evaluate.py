"""`ftor evaluate`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import (
    DataDir,
    GrammarOption,
    Ledger,
    Lengths,
    ModelFolder,
    Threads,
    read_grammar,
    use_threads,
)
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def evaluate(
    folder: ModelFolder,
    file: Annotated[Path, typer.Argument(metavar="FILE.tsv", help="Pairs: source, tab, gold target.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    data_dir: DataDir = None,
    threads: Threads = 1,
    ledger: Ledger = None,
) -> None:
    """Compare a model's outputs with gold targets.

    Prints exact match (also by length), edit distance, length error and the dataset's own scores.
    """
    import ftor  # here for start-up time
    from ftor.files import append_json_line
    from ftor.show.metrics import tables
    from ftor.training.provenance import commit, machine

    use_threads(threads)
    model = ftor.load(folder, data_folder=data_dir)
    config = model.config
    metrics = model.evaluate(file, lengths, TerminalReport(), read_grammar(grammar))
    if ledger is not None:
        record = {
            "experiment": config.name,
            "seed": config.training.seed,
            "config": config.hash,
            "file": file.name,
            "grammar": grammar,
            "lengths": lengths,
            "commit": commit(),
            "metrics": metrics.as_dict(),
        }
        append_json_line(ledger, record | machine())
    if as_json:
        print(json.dumps(metrics.as_dict()))
    else:
        show(tables(metrics))
