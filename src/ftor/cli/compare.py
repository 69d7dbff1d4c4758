"""`ftor compare`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import DataDir, GrammarOption, Lengths, Threads, read_grammar, use_threads
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A model folder, or hf://owner/name.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    file: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="Pairs: source, tab, gold target.")],
    examples: Annotated[
        int, typer.Option("--n", metavar="N", min=0, help="Examples to show of each kind of change.")
    ] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all examples.")] = False,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    data_dir: DataDir = None,
    threads: Threads = 1,
) -> None:
    """Compare two models on the same pairs. Is the difference more than chance?

    Prints the share of right answers of both models, their difference with the interval of a paired
    bootstrap, the exact McNemar test, and examples that only one of the models answers right.
    """
    import ftor  # here for start-up time
    from ftor.model.comparing import compare_models
    from ftor.show.comparison import tables

    use_threads(threads)
    rules = read_grammar(grammar)
    models = [ftor.load(folder, data_folder=data_dir) for folder in (first, second)]
    evaluations = [model.examine(file, lengths, TerminalReport(), rules) for model in models]
    comparison = compare_models(*evaluations)
    if as_json:
        print(json.dumps(comparison.as_dict(), ensure_ascii=False))
    else:
        show(tables(comparison, first, second, examples))
