"""The candidates of a race as a table."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from ftor.tuning.race.candidates import RECOMBINED, RECOMBINED_MEANING
from ftor.tuning.race.choice import Choice


def choice_table(choice: Choice) -> Group:
    """Return a table of what each candidate gave, then why the winner won, and what the candidates are.

    Without a race there is only the reason.
    """
    reason = Text(choice.reason)
    if not choice.rows:
        return Group(reason)
    pairs = ", ".join(f"{count} {kind}" for kind, count in choice.held_out.items() if count)
    table = Table(title=f"what was tried (held-out pairs: {pairs or 'none'})", title_justify="left")
    candidate, _, *others = choice.columns
    table.add_column(candidate, overflow="fold")
    table.add_column("recombined")
    for column in others:
        table.add_column(column, justify="right")
    meanings: dict[str, str] = {}
    for name, meaning, *numbers in choice.rows:
        plain = name.removesuffix(RECOMBINED)
        meanings.setdefault(plain, meaning.removesuffix(RECOMBINED_MEANING))
        is_winner = name == choice.winner
        table.add_row(plain, "yes" if plain != name else "", *numbers, style="bold" if is_winner else None)
    legend = Table.grid(padding=(0, 2))
    for name, meaning in meanings.items():
        legend.add_row(Text(name), Text(meaning))
    return Group(table, reason, legend)
