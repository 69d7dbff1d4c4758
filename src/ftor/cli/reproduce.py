"""`ftor reproduce`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ftor.cli.options import DataDir, Ray, TableName, target_folder
from ftor.cli.output import show
from ftor.show.progress import TerminalReport


def reproduce(
    table: Annotated[
        Literal[TableName, "all", "beyond"],
        typer.Argument(
            metavar="TABLE",
            help="mirror, geo, atis, okapi, style, or all of the paper. `beyond`: what the paper lacks.",
        ),
    ],
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Seeds per row, from 0. Default: 5; 3 for style and beyond."),
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and how long it would take.")
    ] = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also run the LSTM, Transformer and BART, which take long.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Only experiments that match, baselines and the paper's settings included: `'geo-*-rf'`, "
            "`'*-paper'`.",  # outside of code, the asterisks would be markup
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Change a setting of every run. Such runs do not count."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="CPU threads per run. Default: an equal share; 1 on Ray."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for run folders and logs.")] = Path(
        "runs/reproduce"
    ),
    ledgers: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the ledgers.")] = Path(
        "results"
    ),
    data_dir: DataDir = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Download the published files that are missing.")
    ] = False,
) -> None:
    """Run the experiments of one of the paper's tables with several seeds.

    Finished runs are recorded in the ledgers and are not run again. Ctrl-C stops at the next checkpoint;
    the same command continues.
    """
    from ftor.jobs import run_jobs  # here for start-up time
    from ftor.jobs.locking import lock_folder
    from ftor.jobs.places import place
    from ftor.jobs.processes import cores
    from ftor.lab.reproduce import BEYOND, Reproduction, plan_runs, tables_of
    from ftor.show.board import Board
    from ftor.show.plan import plan_table

    if ray is not None and jobs is not None:
        raise typer.BadParameter("a cluster decides how many runs go at a time", param_hint="--jobs")
    if ledgers.exists() and not ledgers.is_dir():
        raise typer.BadParameter(f"{ledgers} is a file, not a folder", param_hint="--ledgers")
    names = tables_of(table)
    threads = threads or (1 if ray else max(1, cores() // (jobs or cores())))
    planned = [BEYOND] if table == BEYOND else names
    runs = plan_runs(planned, out, seeds, only or [], baselines, settings or [], data_dir, threads)
    report = TerminalReport()
    reproduction = Reproduction(runs, ledgers, report)
    statuses = reproduction.statuses
    if dry_run:
        show(plan_table(statuses))
        return
    if all(status.state == "done" for status in statuses):
        report.say(f"{ledgers} has all of the runs ({len(statuses)})")
    else:
        if ray is None:  # a cluster's nodes may have folders of their own
            reproduction.require_data(data_dir, target_folder(data_dir) if fetch else None, report)
        with lock_folder(out, "ftor reproduce"):
            run_jobs(reproduction, place(ray, jobs, report), Board(report, reproduction))
    if settings and any(status.state == "done" for status in statuses):
        report.say(f"runs that --set changes are in {ledgers}, but do not count for the tables")
    elif not settings and all(status.state == "done" for status in statuses):
        _show_tables(names, ledgers)
    failed = [status for status in statuses if status.state == "failed"]
    for status in failed:
        report.warn(f"{status.name} failed: {status.note}")
    if any(status.state == "stopped" for status in statuses):
        report.say("stopped; the same command resumes the runs")
    if any(status.state != "done" for status in statuses):
        raise typer.Exit(1)


def _show_tables(names: list[str], ledgers: Path) -> None:
    from ftor.lab.tables import tables  # here for start-up time
    from ftor.show.results.formats import as_text

    if ledgers.is_dir():  # no run, no ledger
        print("\n\n".join(as_text(table) for table in tables(ledgers, names).values()))
