"""The command that runs the paper's experiments."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ftor.cli.data import DataDir
from ftor.cli.output import show
from ftor.show.progress import TerminalReport, clock

if TYPE_CHECKING:
    from ftor.jobs import Executor
    from ftor.lab import Planned
    from ftor.lab.ledger import Record

TableName = Literal["mirror", "geo", "atis", "okapi", "style", "all"]


def reproduce(
    table: Annotated[TableName, typer.Argument(help="Of the paper.")],
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Of each row, from 0 on; else the paper's: 5, style 3.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Runs side by side; one for each core if not given.")
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="auto|ADDRESS", help="Run on a Ray cluster; auto is this machine's."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be run, and how long that takes.")
    ] = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also the LSTM, Transformer and BART, which take long.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only these experiments, baselines or not: 'geo-*-rf'."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change every run, for a try; counts as other runs."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Of each run; the cores shared out if not given, on Ray 1.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder of the runs' folders and logs.")] = Path(
        "runs/reproduce"
    ),
    ledgers: Annotated[Path, typer.Option(help="The folder of the ledgers.")] = Path("results"),
    data_dir: DataDir = None,
) -> None:
    """Run a table's experiments with several seeds; those that are in the ledgers are not run again.

    Ctrl-C stops the runs where they can go on from; the same command goes on. Finished runs go to ledgers.
    """
    from ftor.jobs.locking import lock_folder
    from ftor.jobs.processes import cores
    from ftor.lab.driver import carry_out
    from ftor.lab.ledger import read_ledgers
    from ftor.lab.paper import TABLES
    from ftor.lab.plan import Choice, plan, require_data
    from ftor.lab.status import Status
    from ftor.show.board import Board

    if ray is not None and jobs is not None:
        raise typer.BadParameter("a cluster decides how many go on side by side", param_hint="--jobs")
    if ledgers.exists() and not ledgers.is_dir():
        raise typer.BadParameter(f"expected a folder, found the file {ledgers}", param_hint="--ledgers")
    names = list(TABLES) if table == "all" else [table]
    jobs = jobs or cores()
    threads = threads or (1 if ray else max(1, cores() // jobs))
    planned = plan(Choice(names, seeds, only or [], baselines, settings or []), out, data_dir, threads)
    records = read_ledgers(ledgers) if ledgers.is_dir() else []
    missing = [run for run in planned if not run.is_in(records)]
    if dry_run:
        _show_plan(planned, missing, records)
        return
    report = TerminalReport()
    if not missing:
        report.say(f"{ledgers} has all of the runs ({len(planned)})")
    elif ray is None:  # a cluster's nodes may have their own
        require_data(missing, data_dir)
    statuses = [Status(run, run.seconds(records)) for run in missing]
    if missing:
        board = Board(report, statuses, len(planned) - len(missing))
        with lock_folder(out, "ftor reproduce"):
            carry_out(statuses, _executor(ray, jobs, report), ledgers, board)
    if settings and any(status.state == "done" for status in statuses):
        report.say(f"runs that --set changes are in {ledgers}, but do not count for the tables")
    elif not settings and all(status.state == "done" for status in statuses):
        _show_tables(names, ledgers)
    failed = [status for status in statuses if status.state == "failed"]
    for status in failed:
        report.warn(f"{status.name} failed: {status.note}")
    if any(status.state == "stopped" for status in statuses):
        report.say("stopped; the same command goes on")
    if any(status.state != "done" for status in statuses):
        raise typer.Exit(1)


def _executor(ray: str | None, jobs: int, report: TerminalReport) -> "Executor":
    if ray is None:
        from ftor.jobs.processes import Processes

        return Processes(jobs)
    from ftor.jobs.cluster import Cluster

    return Cluster(ray, report)


def _show_plan(
    planned: "Sequence[Planned]", missing: "Sequence[Planned]", records: "Sequence[Record]"
) -> None:
    """All runs: those that are recorded, those that go on and those that begin, and how long they take."""
    from rich.table import Table

    known = [seconds for run in missing if (seconds := run.seconds(records)) is not None]
    unknown = f"{len(missing) - len(known)} of unknown length" if len(known) < len(missing) else ""
    takes = f"{clock(sum(known))} on one core" if known or not missing else ""
    show(f"{len(missing)} of {len(planned)} runs to do: {' and '.join(filter(None, (takes, unknown)))}")
    table = Table("run", "state", "takes", box=None, pad_edge=False)
    for run in planned:
        begun = (run.job.folder / "config.toml").exists()
        state = ("half done" if begun else "to do") if run in missing else "recorded"
        table.add_row(run.name, state, clock(run.seconds(records)))
    show(table)


def _show_tables(names: "Sequence[str]", ledgers: Path) -> None:
    from ftor.lab.tables import tables
    from ftor.show.formats import as_text

    if ledgers.is_dir():  # no run, no ledger
        print("\n\n".join(as_text(table) for table in tables(ledgers, names).values()))
