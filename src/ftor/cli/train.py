"""`ftor train`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ftor.cli.options import (
    DataDir,
    DevFile,
    Ledger,
    Settings,
    TestFile,
)
from ftor.cli.output import show
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.tuning.own_pairs import Request


def train(
    experiment: Annotated[
        str | None,
        typer.Argument(
            metavar="PAIRS.tsv|NAME|FILE.toml",
            help="Pairs of your own, source, tab, target: settings are found by a race. Or exactly one "
            "experiment: a shipped one (`ftor data list`) or a TOML file.",
        ),
    ] = None,
    train_file: Annotated[
        Path | None, typer.Option("--train", metavar="FILE.tsv", help="Training pairs: source, tab, target.")
    ] = None,
    dev_file: DevFile = None,
    test_file: TestFile = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed and --threads give the same model.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder. Default: runs/NAME-SEED.")
    ] = None,
    settings: Settings = None,
    grammar: Annotated[
        str | None,
        typer.Option(
            metavar="G|infer|none",
            help="The grammar of the outputs (.cfg, .lark or .gbnf). Default: as configured; for programs "
            "inferred from training.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            min=0.1,
            help="Pairs of your own: about how long. Default: by their number, longer for hard ones.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Pairs of your own: no race.")] = False,
    explain_choice: Annotated[
        bool, typer.Option("--explain-choice", help="Pairs of your own: show what the race tried.")
    ] = False,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Continue a run that was stopped.")
    ] = None,
    data_dir: DataDir = None,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="CPU threads. Default: those of the run that is resumed; for a new one as many as train "
            "fastest here, measured in a second. A race has one for each run.",
        ),
    ] = None,
    ledger: Ledger = None,
) -> None:
    """Train a model and evaluate it."""
    from ftor.lab.ledger import append, judgements_in  # here for start-up time
    from ftor.show.metrics import run_tables
    from ftor.show.tuning.choice import choice_table
    from ftor.training.run import Run
    from ftor.training.train import configure, grammar_override
    from ftor.tuning.own_pairs import Request, is_pairs_file
    from ftor.tuning.race.choice import Choice

    files = {"train": train_file, "dev": dev_file, "test": test_file}
    overrides = [*(settings or []), *grammar_override(grammar)]
    request = None if resume is None else Request.unfinished(resume)
    if resume is not None and (any(files.values()) or out or seed is not None):
        raise typer.BadParameter(
            "--resume takes its data, seed and folder from the run", param_hint="--resume"
        )
    if experiment is not None and is_pairs_file(experiment):
        if train_file is not None:
            raise typer.BadParameter(f"the training pairs are {experiment}", param_hint="--train")
        request = Request.new(Path(experiment), dev_file, test_file, overrides, seed, minutes, quick)
    if request is not None:
        kept = {"--set": settings, "--grammar": grammar, "--minutes": minutes, "--quick": quick}
        if resume is not None and any(kept.values()):
            raise typer.BadParameter("a race that is resumed keeps its settings", param_hint=", ".join(kept))
        if quick and minutes is not None:
            raise typer.BadParameter(
                "there is no race whose time it could limit", param_hint="--minutes, --quick"
            )
        if threads not in (None, 1):
            raise typer.BadParameter("a race uses one thread for each of its runs", param_hint="--threads")
        _race(request, resume or out, data_dir, explain_choice, ledger)
        return
    choice = Choice.read(resume) if explain_choice and resume is not None else None
    if choice is not None:
        show(choice_table(choice))
        explain_choice = False
    of_races = {"--minutes": minutes is not None, "--quick": quick, "--explain-choice": explain_choice}
    if any(of_races.values()):
        given = ", ".join(option for option, is_given in of_races.items() if is_given)
        raise typer.BadParameter("only for pairs of your own, PAIRS.tsv", param_hint=given)
    if resume is not None:
        run = Run.resume(resume, experiment, overrides)
    elif experiment is not None:
        run = Run.new(configure(experiment, files, seed, overrides, TerminalReport()), out)
    else:
        raise typer.BadParameter("give pairs, an experiment, or --resume DIR", param_hint="PAIRS.tsv|NAME")
    again = [] if ledger is None else ["--ledger", str(ledger)]
    metrics = run.train(data_dir, TerminalReport(), again, threads)
    if metrics is None:
        raise typer.Exit(1)
    if run.is_main_process:
        if ledger is not None:
            append(ledger, {"config": run.config.hash, **metrics}, judgements_in(run.folder))
        show(run_tables(metrics))


def _race(
    request: "Request", out: Path | None, data_dir: Path | None, explain_choice: bool, ledger: Path | None
) -> None:
    """Look at pairs, race candidates, train the winner, and show its results."""
    from ftor.config import Config  # here for start-up time
    from ftor.files import read_json
    from ftor.jobs.processes import cores
    from ftor.lab.ledger import append, judgements_in
    from ftor.show.board import Board
    from ftor.show.metrics import run_tables
    from ftor.show.tuning.choice import choice_table
    from ftor.tuning.own_pairs import folder_for, train_on_pairs

    report = TerminalReport()
    folder = folder_for(request, out)
    again = [] if data_dir is None else ["--data-dir", str(data_dir)]
    again += ["--explain-choice"] if explain_choice else []
    again += [] if ledger is None else ["--ledger", str(ledger)]
    choice = train_on_pairs(
        request,
        folder,
        report,
        data_dir,
        lambda race: Board(report, race, min(cores(), len(race.plan.contenders))),
        again,
        explain_choice,
    )
    if choice is None:
        raise typer.Exit(1)
    metrics = read_json(folder / "metrics.json")
    if ledger is not None:
        config = Config.load(folder / "config.toml").hash
        append(ledger, {"config": config, **metrics}, judgements_in(folder))
    if explain_choice:
        show(choice_table(choice))
    show(run_tables(metrics))
