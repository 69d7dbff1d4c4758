"""The report of a search: a table of its trials, and the winner."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ftor.reporting import percent
from ftor.tuning.plan import Plan
from ftor.tuning.trials import Trial, short, to_check, winner
from ftor.tuning.winner import conclusion

WIDTH = 160
"""The width of tables that are not printed to a terminal."""


def print_report(plan: Plan, trials: Sequence[Trial]) -> None:
    """Print all trials, the finalists and the winner to stdout."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    console.print(_table(plan, trials))
    for trial in trials:
        if trial.reason is not None:
            console.print(f"trial {trial.number} failed: {trial.reason}", markup=False, soft_wrap=True)
    checked = to_check(trials)
    if checked:
        console.print(_finals(plan, trials))
    best = winner(trials)
    if best is not None:
        console.print(conclusion(plan, trials, best), markup=False, soft_wrap=True)


def _table(plan: Plan, trials: Sequence[Trial]) -> Table:
    on = f" on {plan.on}" * (plan.on != plan.experiment)
    title = f"{plan.name}: dev {plan.objective}{on}, {plan.config.training.epochs} epochs"
    table = Table(title=escape(title), title_justify="left")
    table.add_column("trial")
    for key in plan.space.keys:
        table.add_column(key.rsplit(".", 1)[-1].replace("_", "\n"), justify="right")
    for seed in plan.seeds:
        table.add_column(f"seed\n{seed}", justify="right")
    table.add_column("mean", justify="right")
    table.add_column("state")
    for trial in trials:
        seeds = [_value(trial.results[seed].value if seed in trial.results else None) for seed in plan.seeds]
        state = trial.state + (", unchanged" if trial.unchanged else "")
        values = [short(trial.values[key]) for key in plan.space.keys]
        table.add_row(str(trial.number), *map(escape, values), *seeds, _value(trial.mean), state)
    return table


def _finals(plan: Plan, trials: Sequence[Trial]) -> Table:
    best = winner(trials)
    table = Table(title="the best, with a third seed", title_justify="left")
    table.add_column("trial")
    for name in ("mean of two", f"seed {plan.third_seed}", "mean of three"):
        table.add_column(name, justify="right")
    table.add_column("")
    for trial in to_check(trials):
        marks = ["unchanged"] * trial.unchanged + ["winner"] * (trial is best)
        marks += ["failed with it"] * isinstance(trial.third, str)
        of_three = trial.mean_with(third=True) if trial.checked is not None else None
        table.add_row(
            str(trial.number), _value(trial.mean), _value(trial.checked), _value(of_three), ", ".join(marks)
        )
    return table


def _value(value: float | None) -> str:
    return "–" if value is None else percent(value)
