"""The winner of a search, in words and as a configuration file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w

from ftor.config import Config
from ftor.files import write_text
from ftor.reporting import percent
from ftor.tuning.plan import Plan
from ftor.tuning.space import value_of
from ftor.tuning.trials import Trial, finalists


def conclusion(plan: Plan, trials: Sequence[Trial], best: Trial) -> str:
    """Return a sentence about the winner and the unchanged configuration."""
    seeds = [*best.results, *([plan.third_seed] if best.checked is not None else [])]
    of_seeds = f"mean of seeds {', '.join(map(str, seeds))}"
    mean = f"dev {plan.objective} {percent(best.mean_with(third=True))}, {of_seeds}"
    if best.unchanged:
        better = "no trial is better" if finalists(trials) else "no other trial is complete"
        of = f" of {plan.on}" * (plan.on != plan.experiment)
        return f"the unchanged configuration{of} wins: {mean}; {better}"
    unchanged = next((trial for trial in trials if trial.unchanged and trial.mean is not None), None)
    against = f"; unchanged {percent(unchanged.mean_with(third=True))}" if unchanged is not None else ""
    return f"trial {best.number} wins: {mean}{against}"


def winning_toml(plan: Plan, trials: Sequence[Trial], best: Trial) -> str:
    """Return the winner's changes of the experiment as TOML, with a comment on each."""
    is_file = plan.experiment.endswith(".toml")
    base = str(Path(plan.experiment).absolute()) if is_file else plan.experiment
    epochs = plan.config.training.epochs
    lines = [
        f"# {plan.name}, tuned on the dev pairs of {plan.on}: {len(trials) - 1} trials of {epochs} epochs",
        f"# {conclusion(plan, trials, best)}",
        f"base = {_toml(base)}",
    ]
    experiment, section = Config.load(plan.experiment), ""
    for key in sorted(plan.space.keys):
        value, before = best.values[key], value_of(experiment, key)
        if value == before:
            continue
        if not key.startswith(f"{section}."):
            section = key.partition(".")[0]
            lines += ["", f"[{section}]"]
        name, where = key.partition(".")[2], plan.on if best.unchanged else plan.space.keys[key]
        comment = f"trial {best.number}, from {where}; {plan.name} has {_toml(before)}"
        lines.append(f"{name} = {_toml(value)}  # {comment}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    return "none" if value is None else tomli_w.dumps({"key": value}).removeprefix("key = ").rstrip()


def write_winner(plan: Plan, trials: Sequence[Trial], best: Trial, folder: Path) -> Path:
    """Write the winner's configuration into the folder of the search."""
    path = folder / f"{plan.name}-tuned.toml"
    write_text(path, winning_toml(plan, trials, best))
    return path
