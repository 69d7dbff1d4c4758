"""`ftor evaluate`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import (
    CommitteeMean,
    DataDir,
    GrammarOption,
    Ledger,
    Lengths,
    ModelFolder,
    Threads,
    check_figure,
    read_grammar,
    use_threads,
)
from ftor.cli.output import show
from ftor.errors import FtorError
from ftor.show.progress import TerminalReport


def evaluate(
    folder: ModelFolder,
    rest: Annotated[
        list[str],
        typer.Argument(
            metavar="[DIR]... FILE.tsv",
            help="Pairs: source, tab, gold target. More models before it make a committee.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Also write a report to look at in a browser.")
    ] = None,
    examples: Annotated[
        int, typer.Option(metavar="N", min=0, help="Examples of each class of mistakes in the report.")
    ] = 3,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.tsv",
            help="The training pairs, which the report looks for new combinations in. "
            "Default: where the configuration has them.",
        ),
    ] = None,
    committee: CommitteeMean = None,
    lengths: Lengths = None,
    grammar: GrammarOption = "own",
    data_dir: DataDir = None,
    threads: Threads = 1,
    ledger: Ledger = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg|png", help="Draw risk against coverage, and the calibration."),
    ] = None,
) -> None:
    """Compare a model's outputs with gold targets.

    Prints exact match (also by length), edit distance, length error and the dataset's own scores; and for a
    calibrated model how far its confidences can be trusted.
    """
    import ftor  # here for start-up time
    from ftor.lab.ledger import append
    from ftor.metrics.judgements import Judgements, digest
    from ftor.model.committee import Committee
    from ftor.show import reliability as show_reliability
    from ftor.show.metrics import tables
    from ftor.training.provenance import commit, machine

    if report is not None:
        _check_report(report)
    use_threads(threads)
    *others, file = *rest[:-1], Path(rest[-1])
    model = ftor.load([folder, *others], data_folder=data_dir, committee=committee)
    if ledger is not None and isinstance(model, Committee):
        raise FtorError("--ledger: a ledger has the results of single runs, not of committees")
    if plot is not None:
        check_figure(plot, "--plot")
        if model.calibration is None:
            raise FtorError(f"--plot: {folder} is not calibrated; run ftor calibrate {folder} DEV.tsv")
    config, rules = model.config, read_grammar(grammar)
    evaluation = model.examine(file, lengths, TerminalReport(), rules)
    metrics = evaluation.metrics
    if report is not None:
        from ftor.model.evaluation import training_pairs
        from ftor.show.report import Question, write_report

        training = training_pairs(model, train, data_dir)
        question = Question(file.name, lengths, rules, training)
        write_report(report, model, evaluation, question, examples)
    reliability = evaluation.reliability
    values = metrics.as_dict() | ({"reliability": reliability.as_dict()} if reliability else {})
    if ledger is not None:
        record = {
            "experiment": config.name,
            "seed": config.training.seed,
            "config": config.hash,
            "file": file.name,
            "grammar": grammar,
            "lengths": lengths,
            "commit": commit(),
            "metrics": values,
        }
        pairs = digest((pair.source, pair.target_text.split()) for pair in evaluation.pairs)
        sizes = tuple(len(pair.source) for pair in evaluation.pairs)
        append(ledger, record | machine(), {file.name: Judgements(pairs, evaluation.verdicts, sizes)})
    if as_json:
        print(json.dumps(values))
    else:
        show(tables(metrics))
        if reliability is not None:
            show(show_reliability.table(reliability))
    if plot is not None and reliability is not None:
        show_reliability.draw(reliability, plot, f"{config.name} on {file.name}")


def _check_report(path: Path) -> None:
    """Fail before anything is predicted if the report cannot be written."""
    if path.is_dir():
        raise FtorError(f"{path}: a folder, not a file for the report")
    if not path.parent.is_dir():
        raise FtorError(f"{path}: no such folder for the report: {path.parent}")
