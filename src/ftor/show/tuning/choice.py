"""The candidates of a race as a table."""

from rich.table import Table

from ftor.tuning.race.choice import Choice


def choice_table(choice: Choice) -> Table:
    """Return a table of what was tried and what each gave."""
    pairs = ", ".join(f"{count} {kind}" for kind, count in choice.held_out.items() if count)
    table = Table(title=f"what was tried (held-out pairs: {pairs or 'none'})", title_justify="left")
    for number, column in enumerate(choice.columns):
        table.add_column(column, justify="left" if number < 2 else "right")
    for row in choice.rows:
        table.add_row(*row, style="bold" if row[0] == choice.winner else None)
    return table
