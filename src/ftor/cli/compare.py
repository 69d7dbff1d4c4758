"""`ftor compare`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import DataDir, GrammarOption, Lengths, Threads, read_grammar, use_threads
from ftor.cli.output import show
from ftor.errors import FtorError
from ftor.show.progress import TerminalReport

_ONLY_FOR_MODELS = {
    "examples": "--n",
    "lengths": "--lengths",
    "grammar": "--grammar",
    "data_dir": "--data-dir",
    "threads": "--threads",
}
"""Options that say how models are run."""


def compare(
    context: typer.Context,
    first: Annotated[
        str,
        typer.Argument(metavar="A", help="A model folder, hf://owner/name, or with --ledgers NAME[:SEED]."),
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="PAIRS.tsv", help="Pairs: source, tab, gold target. Not with --ledgers."),
    ] = None,
    ledgers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Compare recorded runs by their judgements. No model is run."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT", help="With --ledgers: test, dev, test_grammar, dev_grammar or a file's name."
        ),
    ] = None,
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
    if ledgers is not None:
        if file is not None:
            raise typer.BadParameter("recorded runs have their pairs; use --split", param_hint="PAIRS.tsv")
        for name, option in _ONLY_FOR_MODELS.items():
            source = context.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                raise typer.BadParameter("not with --ledgers, which runs no model", param_hint=option)
        _compare_recorded(ledgers, first, second, split, as_json)
        return
    if file is None:
        raise typer.BadParameter("needed without --ledgers", param_hint="PAIRS.tsv")
    if split is not None:
        raise typer.BadParameter("only with --ledgers", param_hint="--split")
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


def _compare_recorded(ledgers: Path, first: str, second: str, split: str | None, as_json: bool) -> None:
    from ftor.lab.comparing import compare_runs  # here for start-up time
    from ftor.lab.ledger import read_ledgers
    from ftor.show.run_comparison import tables

    if not ledgers.is_dir():
        raise FtorError(f"{ledgers}: no such folder; --ledgers names the folder of the ledgers")
    comparison = compare_runs(read_ledgers(ledgers, TerminalReport()), first, second, split)
    if as_json:
        print(json.dumps(comparison.as_dict(), ensure_ascii=False))
    else:
        show(tables(comparison, first, second))
