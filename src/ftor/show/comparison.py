"""Two models on the same pairs, for the terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ftor.metrics.significance import LEVEL, Estimate
from ftor.model.comparing import Change, ModelComparison

SIGNIFICANT = 1 - LEVEL


def tables(comparison: ModelComparison, first: str, second: str, examples: int) -> Group:
    """Return the shares, their difference, its significance, and examples that changed.

    Args:
        comparison: the two models.
        first, second: their names.
        examples: how many examples are shown that became right, and how many that became wrong.
    """
    result, measure = comparison.result, comparison.measure.replace("_", " ")
    shares = Table("model", measure, f"{100 * LEVEL:.0f} % interval")
    for column in shares.columns[1:]:
        column.justify = "right"
    shares.add_row(Text(f"A  {first}"), *estimate(result.first))
    shares.add_row(Text(f"B  {second}"), *estimate(result.second), end_section=True)
    shares.add_row("B − A", *estimate(result.difference, "+"))
    counts = Table("answers", "examples")
    counts.columns[1].justify = "right"
    for name, count in (
        ("both right", result.both),
        ("better: only B right", result.only_second),
        ("worse: only A right", result.only_first),
        ("both wrong", result.neither),
    ):
        counts.add_row(name, str(count))
    parts: list[RenderableType] = [shares, counts, f"{verdict(comparison)} (exact McNemar test)"]
    for title, better in (("better: only B is right", True), ("worse: only A is right", False)):
        changes = [change for change in comparison.changes if change.better == better]
        if changes and examples:
            shown = f"{examples} of {len(changes)}" if len(changes) > examples else str(len(changes))
            parts += [Text(f"\n{title} ({shown})", style="bold")]
            parts += [_change(change) for change in changes[:examples]]
    return Group(*parts)


def verdict(comparison: ModelComparison) -> str:
    """Return in words whether a difference is there, with its p-value."""
    result = comparison.result
    p_value = f"p = {result.p_value:.2g}"
    if result.p_value > SIGNIFICANT:
        return f"no significant difference, {p_value}"
    return f"{'B' if result.difference.value > 0 else 'A'} is better, {p_value}"


def estimate(estimated: Estimate, sign: str = "") -> tuple[str, str]:
    """Return a share and its interval in percent."""
    value, low, high = (f"{100 * number:{sign}.1f}" for number in estimated)
    return f"{value} %" if not sign else value, f"{low} to {high}"


def _change(change: Change) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, text in (
        (f"line {change.line}", change.source),
        ("gold", change.gold),
        ("A", change.first),
        ("B", change.second),
    ):
        grid.add_row(name, Text(text))
    grid.add_row("")
    return grid
