"""Two experiments of the ledgers, for the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ftor.lab.comparing import RunsComparison
from ftor.metrics import measure_name
from ftor.metrics.significance import LEVEL
from ftor.show.comparison import estimate


def tables(comparison: RunsComparison, first: str, second: str) -> Group:
    """Return the mean shares and their difference, and a line for each seed."""
    interval = f"{100 * LEVEL:.0f} % interval"
    shares = Table("experiment", measure_name(comparison.measure), interval)
    shares.add_row(Text(f"A  {first}"), *estimate(comparison.first))
    shares.add_row(Text(f"B  {second}"), *estimate(comparison.second), end_section=True)
    shares.add_row("B − A", *estimate(comparison.difference, "+"))
    seeds = Table("seed", "A", "B", "B − A", interval, "only A right", "only B right", "p")
    for (one, other), result in comparison.by_seed:
        name = str(one) if one == other else f"{one} and {other}"
        values = (estimate(share)[0] for share in (result.first, result.second))
        counts = str(result.only_first), str(result.only_second)
        seeds.add_row(name, *values, *estimate(result.difference, "+"), *counts, f"{result.p_value:.2g}")
    for table in (shares, seeds):
        for column in table.columns[1:]:
            column.justify = "right"
    parts: list[RenderableType] = [
        f"{comparison.split.replace('_grammar', ' with the grammar')}, mean over the runs:",
        shares,
    ]
    parts += ["by seed, with the exact McNemar test:", seeds] if comparison.by_seed else []
    return Group(*parts)
