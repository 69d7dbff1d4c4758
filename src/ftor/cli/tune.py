"""`ftor tune`."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ftor.cli.options import DataDir, Experiment, Ray, check_figure
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.tuning.plan import Plan


def tune(
    experiment: Experiment,
    trials: Annotated[
        int, typer.Option(metavar="N", min=1, help="Random configurations, besides the unchanged one.")
    ] = 20,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Epochs per run. Default: as configured.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Runs at a time. Default: one per core; with --ray as many as it has room for.",
        ),
    ] = None,
    ray: Ray = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder of the search. Default: tune/NAME.")
    ] = None,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="The search space. Default: the paper's.")
    ] = None,
    on_itself: Annotated[
        bool,
        typer.Option(
            "--on-itself", help="Train on NAME's own split, not on the dataset's out-of-distribution split."
        ),
    ] = False,
    sampler: Annotated[
        Literal["random", "tpe"],
        typer.Option(help="random as in the paper, or Optuna's TPE, which learns from trials."),
    ] = "random",
    prune: Annotated[
        bool, typer.Option("--prune", help="Stop a trial early if it is worse than most.")
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="The first of three seeds; also draws the trials.")
    ] = 1000,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A picture (.svg or .png). Default: DIR/tune.svg.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Search for better hyperparameters by dev scores.

    Every trial is trained with two seeds, the best trials with a third. The same command continues a
    search that was stopped, and tries again what failed. Needs pip install 'ftor[tune]'.
    """
    from ftor.tuning.plan import make_plan  # here for start-up time

    if figure is not None:
        check_figure(figure, "--figure")
    if ray is not None and jobs is None and sampler == "tpe":
        raise typer.BadParameter(
            "--sampler tpe learns from finished trials: with --ray, say how many runs go at a time",
            param_hint="--jobs",
        )
    plan = make_plan(
        experiment, space, on_itself, epochs, trials=trials, sampler=sampler, seed=seed, prune=prune
    )
    folder = out if out is not None else Path("tune") / plan.name
    picture = figure if figure is not None else folder / "tune.svg"
    if not _carry_out(plan, folder, picture, jobs, ray, data_dir):
        raise typer.Exit(1)


def _carry_out(
    plan: "Plan", folder: Path, picture: Path, jobs: int | None, ray: str | None, data_dir: Path | None
) -> bool:
    """Search and report. Returns whether the search came to its end."""
    from ftor.datasets.splits import require_files  # here for start-up time
    from ftor.errors import FtorError
    from ftor.jobs import run_jobs
    from ftor.jobs.locking import lock_folder
    from ftor.jobs.places import place
    from ftor.jobs.processes import cores
    from ftor.show.board import Board
    from ftor.show.tuning.figure import save
    from ftor.show.tuning.report import print_report
    from ftor.tuning.search import Search
    from ftor.tuning.store import Store
    from ftor.tuning.trials import winner
    from ftor.tuning.winner import write_winner

    report = TerminalReport()
    if ray is None:  # a cluster's nodes may have folders of their own
        require_files(plan.config, data_dir)  # without which every trial would fail
    threads = 1 if ray else max(1, cores() // (jobs or cores()))
    with lock_folder(folder, "ftor tune"):
        store = Store(plan, folder)
        _announce(plan, folder, report)
        search = Search(store, report, threads, data_dir)
        if not run_jobs(search, place(ray, jobs, report), Board(report, search)):
            report.say(f"stopped; to resume: {shlex.join(['ftor', *sys.argv[1:]])}")
            return False
        trials = store.trials()
        print_report(plan, trials)
        best = winner(trials)
        if best is None:
            raise FtorError(f"{folder}: no trial came to its end")
        save(plan, trials, picture)
        report.say(f"picture in {picture}")
        print(f"winner in {write_winner(plan, trials, best, folder)}")
    return True


def _announce(plan: "Plan", folder: Path, report: TerminalReport) -> None:
    name = plan.name
    if plan.on != plan.experiment:
        report.say(
            f"tuning {name} on {plan.on}, whose dev pairs are out of distribution (--on-itself: on its own)"
        )
    runs = len(plan.seeds) * (plan.trials + 1) + 3
    report.say(
        f"{plan.space.name}: {', '.join(plan.space.keys)}\n"
        f"{plan.trials} trials and the unchanged configuration, by dev {plan.objective}, with seeds "
        f"{' and '.join(map(str, plan.seeds))}, the best with {plan.third_seed} too: {runs} runs\n"
        f"in {folder}; test pairs are not used"
    )
