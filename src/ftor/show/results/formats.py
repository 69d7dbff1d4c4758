"""Tables of results as plain text, Markdown, LaTeX and JSON."""

import io
import json
import textwrap
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ftor.lab.measured import Comparison, Measured
from ftor.lab.paper import PaperNumber
from ftor.lab.public import PublicTable
from ftor.lab.runtimes import RuntimeTable
from ftor.lab.tables import ResultRow, ResultTable, Runs
from ftor.show.results import layout, public, runtimes
from ftor.show.results.layout import Grid

AnyTable = ResultTable | RuntimeTable | PublicTable

WIDTH = 100
"""The width of notes in plain text."""
HEADER_WIDTH = 10
LATEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"±": r"$\pm$", "→": r"$\to$", "†": r"$\dagger$", "<": "$<$", "−": "$-$", "+": "$+$", "–": "--"},
}


def parts(table: AnyTable) -> tuple[list[Grid], list[str]]:
    """Return the grids of a table and the notes below them."""
    match table:
        case RuntimeTable():
            return runtimes.grids(table), runtimes.notes(table)
        case PublicTable():
            return public.grids(table), public.notes(table)
        case ResultTable():
            return layout.grids(table), layout.notes(table)


def as_text(table: AnyTable) -> str:
    """Return plain text, without a line break at its end."""
    grids, notes = parts(table)
    below = "\n".join(textwrap.fill(note, WIDTH) for note in notes)
    return "\n\n".join([*map(_drawn, grids), below]).rstrip()


def _drawn(grid: Grid) -> str:
    drawn = Table(title=grid.caption, title_justify="left", title_style="", box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(grid.header):
        header = Text("\n".join(textwrap.wrap(name, HEADER_WIDTH)))
        drawn.add_column(header, justify="left" if place < grid.keys else "right", no_wrap=True)
    for section in grid.sections():
        for line in section:
            drawn.add_row(*map(Text, line))
        drawn.add_section()
    console = Console(file=io.StringIO(), width=1000, color_system=None)
    with console.capture() as capture:
        console.print(drawn)
    return "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))


def as_markdown(table: AnyTable) -> str:
    """Return Markdown, with a blank line between the parts of the table."""
    grids, notes = parts(table)
    return "\n\n".join([*(f"*{grid.caption}*\n\n{_piped(grid)}" for grid in grids), *notes])


def _piped(grid: Grid) -> str:
    rule = ["---" if place < grid.keys else "---:" for place in range(len(grid.header))]
    lines = [line for section in grid.sections() for line in section]
    return "\n".join(f"| {' | '.join(line)} |" for line in (grid.header, rule, *lines))


def as_latex(table: AnyTable) -> str:
    """Return a LaTeX `table` for each part, with notes below the last. Needs the package booktabs."""
    grids, notes = parts(table)
    return "\n\n".join(
        _tabular(grid, f"tab:{table.name}-{number}", notes if grid is grids[-1] else [])
        for number, grid in enumerate(grids, 1)
    )


def _tabular(grid: Grid, label: str, below: Iterable[str]) -> str:
    columns = "l" * grid.keys + "r" * (len(grid.header) - grid.keys)
    sections = ["\n".join(_latex_line(line) for line in section) for section in grid.sections()]
    lines = [
        *(r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"),
        *(_latex_line(grid.header), r"\midrule", "\n\\addlinespace\n".join(sections)),
        *(r"\bottomrule", r"\end{tabular}", rf"\caption{{{_escaped(grid.caption)}.}}", rf"\label{{{label}}}"),
        *(rf"\par\smallskip{{\footnotesize {_escaped(note)}\par}}" for note in below),
        r"\end{table}",
    ]
    return "\n".join(lines)


def _latex_line(cells: Iterable[str]) -> str:
    return f"{' & '.join(_escaped(cell) for cell in cells)} \\\\"


def _escaped(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text)


def as_json(tables: Iterable[AnyTable]) -> str:
    """Return all numbers with all digits, by table. Missing numbers are null."""
    return json.dumps({table.name: _values(table) for table in tables}, ensure_ascii=False, indent=2)


def _values(table: AnyTable) -> dict[str, Any]:
    match table:
        case RuntimeTable():
            return runtimes.values(table)
        case PublicTable():
            return public.values(table)
    return {
        "title": table.title,
        "measure": table.measure,
        "paper_seeds": table.paper_seeds,
        "runs": table.runs,
        "hours": table.hours,
        "not_run": [row.shipped.experiment for row in table.not_run],
        "not_run_released": [row.released.experiment for row in table.not_run_released if row.released],
        "fewer_seeds": {row.shipped.experiment: len(row.shipped.seeds) for row in table.fewer_seeds},
        "rows": [_row_values(row) for row in table.rows],
        "far_beyond": [
            {"length": far.x, "strings": far.examples, "ours": _number(far.ours)} for far in table.far_beyond
        ],
        "by_parameters": {
            decoding: [{"parameters": p.x, "examples": p.examples, "ours": _number(p.ours)} for p in points]
            for decoding, points in table.by_parameters.items()
        },
    }


def _row_values(row: ResultRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "split": row.split,
        "shipped": _runs(row.shipped),
        "released": None if row.released is None else _runs(row.released),
        "beyond": None if row.beyond is None else _runs(row.beyond),
        "missing": row.missing or None,
        "aim": None if row.aim is None else row.aim._asdict(),
        "columns": {compared.column: _column(compared) for compared in row.comparisons},
        "appendix": {compared.column: _column(compared) for compared in row.appendix},
    }


def _column(compared: Comparison) -> dict[str, Any]:
    return {
        "paper": _number(compared.paper),
        "released": _compared(compared, compared.released),
        "shipped": _compared(compared, compared.ours),
        "beyond": _compared(compared, compared.beyond),
        "trivial": compared.trivial,
    }


def _runs(runs: Runs) -> dict[str, Any]:
    details = {name: _number(value) for name, value in runs.details.items()}
    return {"experiment": runs.experiment, "seeds": runs.seeds, "seconds": runs.seconds, "details": details}


def _compared(compared: Comparison, ours: Measured | None) -> dict[str, Any] | None:
    values = _number(ours)
    if values is None or ours is None:
        return None
    interval = None if ours.interval is None else [ours.interval.low, ours.interval.high]
    return values | {
        "worst": ours.worst,
        "interval": interval,
        "difference": compared.difference_of(ours),
        "within_chance": compared.within_chance(ours),
    }


def _number(number: Measured | PaperNumber | None) -> dict[str, Any] | None:
    if number is None:
        return None
    values: dict[str, Any] = {"mean": number.mean, "deviation": number.deviation}
    return values | {"n": number.n, "values": number.values} if isinstance(number, Measured) else values
