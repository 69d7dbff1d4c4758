"""The figure of a search: its trials with the best so far, and the objective by each parameter."""

import math
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ftor.show import drawing
from ftor.show.drawing import BLUE, GREEN, GREY, ORANGE, house_style
from ftor.tuning.plan import Plan
from ftor.tuning.space import Choices
from ftor.tuning.trials import Trial, winner

COLUMNS = 3


def save(plan: Plan, trials: Sequence[Trial], path: Path) -> None:
    """Draw a search with at least one complete trial into an SVG or PNG file."""
    with house_style():
        drawing.save(_draw(plan, trials), path, f"{plan.name}, tuned")


def _draw(plan: Plan, trials: Sequence[Trial]) -> Figure:
    rows = math.ceil(len(plan.space.keys) / COLUMNS)
    figure = Figure(figsize=(8.0, 3.3 + 2.0 * rows), layout="constrained")
    grid = figure.add_gridspec(rows + 1, COLUMNS, height_ratios=[1.4, *[1.0] * rows])
    top = figure.add_subplot(grid[0, :])
    _draw_trials(top, plan, trials)
    first: Axes | None = None
    for place, key in enumerate(plan.space.keys):
        axes = figure.add_subplot(grid[1 + place // COLUMNS, place % COLUMNS], sharey=first)
        first = first or axes
        _draw_parameter(axes, plan, trials, key)
        if place % COLUMNS:
            axes.tick_params(labelleft=False)
        else:
            axes.set_ylabel(f"{plan.objective}, %")
    figure.legend(*top.get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False)
    return figure


def _draw_trials(axes: Axes, plan: Plan, trials: Sequence[Trial]) -> None:
    complete = [trial for trial in trials if trial.mean is not None]
    numbers = [trial.number for trial in complete]
    axes.set_title(f"{plan.name}: dev {plan.objective}" + f" on {plan.on}" * (plan.on != plan.experiment))
    best = list(accumulate((_percent(trial.mean) for trial in complete), max))
    axes.step(
        [*numbers, trials[-1].number],
        [*best, best[-1]],
        where="post",
        color=GREY,
        lw=1.2,
        label="best so far",
    )
    for trial in complete:
        values = [_percent(result.value) for result in trial.results.values()]
        axes.plot([trial.number] * 2, [min(values), max(values)], color=BLUE, lw=1, alpha=0.5)
        axes.plot([trial.number] * len(values), values, "_", color=BLUE, ms=6, alpha=0.8)
    axes.plot([], [], "_-", color=BLUE, ms=6, alpha=0.8, lw=1, label="each seed")
    _draw_points(axes, trials, [trial.number for trial in trials], with_labels=True)
    axes.set_xlabel("trial")
    axes.set_ylabel(f"{plan.objective}, %")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _draw_parameter(axes: Axes, plan: Plan, trials: Sequence[Trial], key: str) -> None:
    allowed = plan.space.keys[key]
    axes.set_xlabel(key.rsplit(".", 1)[-1].replace("_", " "))
    values = [trial.values[key] for trial in trials]
    if isinstance(allowed, Choices):
        ticks = [*allowed.choices, *sorted(set(values) - set(allowed.choices), key=str)]
        axes.set_xticks(
            range(len(ticks)), [f"{tick:g}" if isinstance(tick, float) else str(tick) for tick in ticks]
        )
        axes.set_xlim(-0.5, len(ticks) - 0.5)
        _draw_points(axes, trials, [ticks.index(value) for value in values])
    else:
        if allowed.log:
            axes.set_xscale("log")
        elif isinstance(allowed.low, int):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        _draw_points(axes, trials, [float(value) for value in values])


def _draw_points(
    axes: Axes, trials: Sequence[Trial], places: Sequence[float], with_labels: bool = False
) -> None:
    """Draw the means of the trials at their places. Trials without a mean stand at the bottom."""
    best = winner(trials)
    axes.margins(0.06, 0.14)  # room for the ring, and for the trials at the bottom
    groups = {
        "mean": ("o", BLUE, [trial.mean is not None and not trial.unchanged for trial in trials]),
        "unchanged": ("s", ORANGE, [trial.mean is not None and trial.unchanged for trial in trials]),
        "pruned": ("x", GREY, [trial.state == "pruned" for trial in trials]),
        "failed": ("1", GREY, [trial.state == "failed" for trial in trials]),
    }
    for name, (marker, colour, members) in groups.items():
        some = [(place, trial) for place, trial, is_in in zip(places, trials, members, strict=True) if is_in]
        if not some:
            continue
        x = [place for place, _ in some]
        label = name if with_labels else None
        if name in ("pruned", "failed"):
            bottom = axes.get_xaxis_transform()
            axes.plot(x, [0.04] * len(x), marker, color=colour, ms=6, transform=bottom, label=label)
        else:
            y = [_percent(trial.mean) for _, trial in some]
            axes.plot(x, y, marker, color=colour, ms=5.5, mec="white", mew=0.5, label=label, zorder=3)
    place, trial = next((place, trial) for place, trial in zip(places, trials, strict=True) if trial is best)
    label = "winner" if with_labels else None
    axes.plot(
        [place], [_percent(trial.mean)], "o", ms=11, mfc="none", mec=GREEN, mew=1.8, label=label, zorder=4
    )


def _percent(value: float | None) -> float:
    assert value is not None
    return 100 * value
