"""`ftor results`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ftor.cli.options import TableName
from ftor.show.progress import TerminalReport

Format = Literal["text", "md", "latex", "json"]


def results(
    table: Annotated[
        TableName | None, typer.Argument(help="One of the paper's tables. Default: all.")
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
) -> None:
    """Show the paper's numbers beside those of the recorded runs, and list what has not been run."""
    from ftor.lab.ledger import read_ledgers  # here for start-up time
    from ftor.lab.tables import passed_over, tables
    from ftor.show.results.formats import as_json, as_latex, as_markdown, as_text

    report = TerminalReport()
    shown = tables(ledgers, None if table is None else [table])
    if update is not None:
        from ftor.show.results.page import update as update_page

        changed = update_page(update, shown.values())
        report.say(f"{update}: {'updated' if changed else 'nothing to change'}")
    if figures is not None:
        from ftor.show.results.figures import draw  # here for start-up time: matplotlib

        for path in draw(figures, read_ledgers(ledgers), list(shown), runs, report):
            print(path)
    if update is not None or figures is not None:
        return
    if format == "json":
        print(as_json(shown.values()))
    else:
        as_format = {"text": as_text, "md": as_markdown, "latex": as_latex}[format]
        print("\n\n".join(as_format(each) for each in shown.values()))
    others = [f"{name} ({count})" for name, count in sorted(passed_over(read_ledgers(ledgers)).items())]
    if others:
        report.say(f"runs of other experiments or settings, which no table counts: {', '.join(others)}")
