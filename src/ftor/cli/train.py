"""`ftor train`."""

from pathlib import Path
from typing import Annotated

import typer

from ftor.cli.options import DataDir, Ledger, Settings, Threads, use_threads
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def train(
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|FILE.toml",
            help="A shipped experiment or a TOML file. `ftor data list` shows the shipped ones; "
            "`transducer` is for pairs of your own.",
        ),
    ] = None,
    train_file: Annotated[
        Path | None, typer.Option("--train", metavar="FILE.tsv", help="Training pairs: source, tab, target.")
    ] = None,
    dev_file: Annotated[
        Path | None, typer.Option("--dev", metavar="FILE.tsv", help="Pairs that select the best epoch.")
    ] = None,
    test_file: Annotated[
        Path | None, typer.Option("--test", metavar="FILE.tsv", help="Pairs that are evaluated at the end.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="The same seed gives the same model.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder. Default: runs/NAME-SEED.")
    ] = None,
    settings: Settings = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Continue a run that was stopped.")
    ] = None,
    data_dir: DataDir = None,
    threads: Threads = 1,
    ledger: Ledger = None,
) -> None:
    """Train a model and evaluate it."""
    from ftor.show.metrics import run_tables  # here for start-up time
    from ftor.training.run import Run
    from ftor.training.train import configure

    files = {"train": train_file, "dev": dev_file, "test": test_file}
    if resume is not None:
        if any(files.values()) or out or seed is not None:
            raise typer.BadParameter(
                "--resume takes its data, seed and folder from the run", param_hint="--resume"
            )
        run = Run.resume(resume, experiment, settings or [])
    elif experiment is not None:
        report = TerminalReport()
        run = Run.new(configure(experiment, files, seed, settings or [], report), out)
    else:
        raise typer.BadParameter("give an experiment, or --resume DIR", param_hint="NAME|FILE.toml")
    use_threads(threads)
    metrics = run.train(data_dir, TerminalReport(), ledger)
    if metrics is None:
        raise typer.Exit(1)
    if run.is_main_process:
        show(run_tables(metrics))
