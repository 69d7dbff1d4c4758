"""`ftor results`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ftor.cli.options import TableName
from ftor.errors import FtorError
from ftor.show.progress import TerminalReport

if TYPE_CHECKING:
    from ftor.show.results.formats import AnyTable

Format = Literal["text", "md", "latex", "json"]


def results(
    table: Annotated[
        Literal[TableName, "runtime", "public"] | None,
        typer.Argument(
            help="One table: of a dataset of the paper, of runtimes, or of public data. Default: all."
        ),
    ] = None,
    format: Annotated[
        Format, typer.Option(help="md is Markdown. latex needs the package booktabs. json has all digits.")
    ] = "text",
    ledgers: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the ledgers.")] = Path(
        "results"
    ),
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw SVG figures into this folder instead.")
    ] = None,
    runs: Annotated[
        Path, typer.Option(metavar="DIR", help="The run folders, for the figures of training curves.")
    ] = Path("runs"),
    update: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", help="Put the tables between their markers in a page instead."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Fail if a table in docs/ (or in the page of --update) is not what the ledgers say.",
        ),
    ] = False,
) -> None:
    """Show the paper's numbers beside those of the recorded runs, and list what has not been run."""
    from ftor.lab.ledger import read_ledgers  # here for start-up time
    from ftor.lab.paper import TABLES
    from ftor.lab.tables import FURTHER, further_tables, passed_over, tables
    from ftor.show.results.formats import as_json, as_latex, as_markdown, as_text

    report = TerminalReport()
    if not ledgers.is_dir():
        raise FtorError(f"{ledgers}: no such folder; --ledgers names the folder of the ledgers")
    lines = read_ledgers(ledgers, report)
    names = [table] if table is not None else [*TABLES, *FURTHER]
    compared = tables(lines, [name for name in names if name in TABLES])
    shown: list[AnyTable] = [*compared.values(), *further_tables(lines, names).values()]
    if check:
        _check(update, shown, ledgers, report)
    elif update is not None:
        from ftor.show.results.page import update as update_page

        changed = update_page(update, shown)
        report.say(f"{update}: {'updated' if changed else 'nothing to change'}")
    if figures is not None:
        from ftor.show.results.figures import draw  # here for start-up time: matplotlib

        for path in draw(figures, lines, list(compared), runs, report):
            print(path)
    if check or update is not None or figures is not None:
        return
    if format == "json":
        print(as_json(shown))
    else:
        as_format = {"text": as_text, "md": as_markdown, "latex": as_latex}[format]
        print("\n\n".join(as_format(each) for each in shown))
    others = [f"{name} ({count})" for name, count in sorted(passed_over(lines).items())]
    if others:
        report.say(f"runs of other experiments or settings, which no table counts: {', '.join(others)}")


def _check(page: Path | None, shown: "list[AnyTable]", ledgers: Path, report: TerminalReport) -> None:
    """Raise if a table in a page, or in any page below docs/, is not what the ledgers say."""
    from ftor.show.results.page import has_tables, outdated

    pages = (
        [page]
        if page is not None
        else [path for path in sorted(Path("docs").rglob("*.md")) if has_tables(path)]
    )
    if not pages:
        raise FtorError("--check: no page below docs/ has a table; name one with --update FILE.md")
    wrong = [f"{path} ({name})" for path in pages for name in outdated(path, shown)]
    if wrong:
        raise FtorError(f"not what {ledgers} says: {', '.join(wrong)}; run ftor results --update FILE.md")
    report.say(f"{', '.join(map(str, pages))}: as {ledgers} says")
