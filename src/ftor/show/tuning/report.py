"""What a search found: a table of its trials, and the winner as a configuration."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ftor.config import Config
from ftor.files import write_text
from ftor.tuning.plan import Plan
from ftor.tuning.space import value_of
from ftor.tuning.trials import Trial, finalists, percent, short, to_check, winner

WIDTH = 160
"""Of tables that no terminal limits."""


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


def conclusion(plan: Plan, trials: Sequence[Trial], best: Trial) -> str:
    """Which trial wins, and against what."""
    mean = f"dev {plan.objective} {percent(best.mean_with(third=True))} on average of {_seeds(plan, best)}"
    unchanged = next((trial for trial in trials if trial.unchanged and trial.mean is not None), None)
    if best.unchanged:
        better = "no trial is better" if finalists(trials) else "no other trial came to its end"
        of = f" of {plan.on}" * (plan.on != plan.experiment)
        return f"the unchanged configuration{of} wins: {mean}; {better}"
    against = f"; unchanged {percent(unchanged.mean_with(third=True))}" if unchanged is not None else ""
    return f"trial {best.number} wins: {mean}{against}"


def _seeds(plan: Plan, trial: Trial) -> str:
    seeds = [*trial.results, *([plan.third_seed] if trial.checked is not None else [])]
    return f"seeds {', '.join(map(str, seeds))}"


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


def winning_toml(plan: Plan, trials: Sequence[Trial], best: Trial) -> str:
    """The experiment with what the winner changes, and where each value is from."""
    is_file = plan.experiment.endswith(".toml")
    base = str(Path(plan.experiment).absolute()) if is_file else plan.experiment
    lines = [
        f"# {plan.name} as tuned on the dev pairs of {plan.on}: {len(trials) - 1} trials of "
        f"{plan.config.training.epochs} epochs",
        f"# {conclusion(plan, trials, best)}",
        f"base = {json.dumps(base, ensure_ascii=False)}",
    ]
    experiment, section = Config.load(plan.experiment), ""  # which may differ from what was trained on
    for key in sorted(plan.space.keys):
        value, before = best.values[key], value_of(experiment, key)
        if value == before:
            continue
        if not key.startswith(f"{section}."):
            section = key.partition(".")[0]
            lines += ["", f"[{section}]"]
        name, where = key.partition(".")[2], plan.on if best.unchanged else plan.space.keys[key]
        lines.append(
            f"{name} = {json.dumps(value, ensure_ascii=False)}"
            f"  # trial {best.number}, from {where}; {plan.name} has {json.dumps(before, ensure_ascii=False)}"
        )
    return "\n".join(lines) + "\n"


def write_winner(plan: Plan, trials: Sequence[Trial], best: Trial, folder: Path) -> Path:
    """Write the winner's configuration into the search's folder."""
    path = folder / f"{plan.name}-tuned.toml"
    write_text(path, winning_toml(plan, trials, best))
    return path
